/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nbdkit's header, with the API version that the plugin is written for. Included by the files that
 * talk to nbdkit.
 */
#ifndef NBDKIT_API_H
#define NBDKIT_API_H

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#endif
