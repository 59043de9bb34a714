import sys
open(sys.argv[2],"w").write("<!doctype html><title>x</title>")
