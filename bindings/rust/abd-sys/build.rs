// SPDX-License-Identifier: BSD-2-Clause
//! Finds libabd: in the folder ABD_LIB_DIR, or by pkg-config.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=ABD_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let libs = match env::var("ABD_LIB_DIR") {
        Ok(folder) => {
            println!("cargo:rustc-link-search=native={folder}");
            String::from("-labd")
        }
        Err(_) => match Command::new("pkg-config").args(["--libs", "abd"]).output() {
            Ok(done) if done.status.success() => String::from_utf8(done.stdout).expect("UTF-8"),
            _ => panic!("no libabd: install it, or set ABD_LIB_DIR"),
        },
    };
    for word in libs.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={name}");
        }
    }
}
