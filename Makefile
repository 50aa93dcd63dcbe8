# SPDX-License-Identifier: GPL-2.0-or-later
#
# haproxy - the one Makefile: no configure, no recursion into folders. GNU make 4.2 or later.
#
#: Targets
#:   all             build ./haproxy, its other names ./haterm and ./haload, and ./halog (default)
#:   quickstart      install what is missing to build, build, run examples/quickstart.cfg
#:   check           install what is missing to test, build, run every test and check
#:   unit            unit tests, each linked with only the floors at or below its folder (T=codec: some)
#:   fuzz-replay     give every fuzzer its corpus (any compiler)
#:   fuzz            run every fuzzer for FUZZ_SECONDS each (clang with libFuzzer)
#:   lint            layers, sizes, format, static analysis
#:   reg-tests       reg-tests/**/*.vtc; "make reg-tests http log/x.vtc" runs areas or files
#:   system-tests    tests/system/*.py
#:   check-bare      README's two commands on a bare Debian, which it makes; needs root (CHECK_BARE_ARGS=--quick)
#:   check-systemd   the unit under systemd itself, in namespaces; needs root (CHECK_SYSTEMD_ARGS="--restarts 50")
#:   check-sandbox   the black-box tests in the sandbox, as root also with chroot and user
#:   check-filters   the black-box tests with a filter in every proxy that cuts all bytes at random
#:   check-page      the statistics page in headless Chromium, which it installs; pictures: build/page
#:   check-prometheus  Prometheus, which it unpacks, scrapes the exporter
#:   check-servers   health checks of real servers, which it unpacks, also by the program REFERENCE
#:   check-reference run the same .vtc files against the program REFERENCE
#:   options         what is on, what is off, and why
#:   completion      completion of shells and the syntax file of vim, from the same lists
#:   doc             the generated tables of doc/: the program's words, and its differences
#:   bench           CPU per request beside REFERENCE (bench/README.md)
#:   deps, test-deps install what is missing to build, to test
#:   install         the programs, manual pages, documents (install-bin, -man, -doc, -systemd)
#:   dist            build/dist/haproxy-VERSION.tar.gz of what is committed: the same bytes each time
#:   image           the image haproxy:VERSION of it, with docker, podman or buildah
#:   deb             build/deb/*.deb, in place of Debian's haproxy
#:   check-deb       installs it over that in a root folder of its own, and tries it; needs root
#:   clean, help
#:
#: Variables
#:   TARGET=         linux-glibc, linux-musl, linux-glibc-legacy, generic
#:   USE_X=1         require OPENSSL, IPSEC_MB, PCRE2, PCRE2_JIT, LUA, ZLIB, ISAL, BROTLI, ZSTD, CARES, LIBCRYPT,
#:                   MEMORY_PROFILING, EPOLL;
#:   USE_X=0         leave it out; not given: on when it is found. PCRE2 cannot be left out.
#:   X_INC= X_LIB=   folders of a library (SSL, PCRE2, LUA, ZLIB, ISAL, BROTLI, ZSTD, CARES) instead of pkg-config
#:   CC, CFLAGS, LDFLAGS, ADDINC, ADDLIB, DEFINE, OPT_CFLAGS (-O2), DEBUG_CFLAGS (-g)
#:   ERR=            do not turn warnings into errors
#:   DEBUG=1         costly assertions too (DEBUG_STRICT); DEBUG="-DX -DY" as given
#:   SAN=address     address, undefined behaviour and leaks; SAN=thread: data races
#:   COV=1           coverage counters (gcov)
#:   PGO=1           for packages: optimized across files (LTO), for what scripts/train makes the program do; with gcc
#:   STATS=none      no figures but gauges, to measure what they cost (bench/stats_cost.py); not for use
#:   V=1             show the commands
#:   VERSION, SUBVERS, EXTRAVERSION, VERDATE
#:   DESTDIR, PREFIX (/usr/local), SBINDIR, MANDIR, DOCDIR, BASHCOMPDIR, ZSHCOMPDIR, UNITDIR
#:   PROGRAM, REFERENCE, FUZZ_SECONDS, JOBS

VERSION      ?= 3.4.0
# in a tarball of "make dist" there is a file of that name
VERDATE      ?= $(or $(file <VERDATE),$(shell git log -1 --format=%cd --date=format:%Y/%m/%d 2>/dev/null),2026/11/20)
SUBVERS      ?=
EXTRAVERSION ?=
PREFIX  ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
MANDIR  ?= $(PREFIX)/share/man
DOCDIR  ?= $(PREFIX)/share/doc/haproxy
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR  ?= $(PREFIX)/share/zsh/site-functions
UNITDIR ?= $(PREFIX)/lib/systemd/system
INSTALL ?= install
PKG_CONFIG ?= pkg-config
PYTHON  ?= python3
ERR          ?= 1
FUZZ_SECONDS ?= 20
REFERENCE    ?= $(HOME)/.cache/haproxy-reference/haproxy-3.4
JOBS         ?= $(shell nproc 2>/dev/null || echo 2)

empty :=
space := $(empty) $(empty)
comma := ,
define newline


endef
Q := $(if $(filter-out 0,$(V)),,@)
# said COMMAND,NAME: the short line of a quiet build
said = $(if $(Q),@printf '  %-7s %s\n' '$(1)' '$(2)')
# is VALUE: the value of a switch: empty for "", 0
is = $(filter-out 0,$(strip $(1)))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
GOALS := $(or $(MAKECMDGOALS),all)
# goals that run before a compiler or a library is known to be there
PLAIN_GOALS := help clean check check-bare quickstart deps test-deps check-reference bench scripts-test dist deb check-deb image
BUILDING := $(filter-out $(PLAIN_GOALS),$(GOALS))
# "make reg-tests AREA...": the words after the first goal are no goals
ifneq ($(filter reg-tests check-reference,$(firstword $(GOALS))),)
REGTEST_ARGS := $(wordlist 2,99,$(GOALS))
BUILDING := $(filter reg-tests,$(firstword $(GOALS)))
.PHONY: $(REGTEST_ARGS)
$(REGTEST_ARGS): $(firstword $(GOALS)) ; @:
endif

# ---- flavours: each has its own folder of objects

ifneq ($(filter-out none,$(STATS)),)
$(error STATS=$(STATS) is unknown: none)
endif
ifneq ($(filter-out address thread fuzz,$(SAN)),)
$(error SAN=$(SAN) is unknown: address or thread)
endif
ifneq ($(filter-out 0 1 learn,$(PGO)),)
$(error PGO=$(PGO) is unknown: 1)
endif
FLAVOUR := $(or $(SAN),$(if $(call is,$(COV)),cov),$(if $(STATS),uncounted),$(if $(call is,$(PGO)),pgo),default)
B       := build/$(FLAVOUR)
# where its programs go: those that are for use, here
OUT     := $(if $(filter default pgo,$(FLAVOUR)$(filter learn,$(PGO))),,$(B)/)
BINARY  := $(OUT)haproxy
HALOG   := $(OUT)halog
# the same program by other names, which make it another tool
NAMES   := $(addprefix $(OUT),haterm haload)
PROGRAM ?= ./$(BINARY)

flavour_cflags_address := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -O1
flavour_cflags_thread  := -fsanitize=thread -O1
flavour_cflags_fuzz    := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow \
                          -fno-sanitize-recover=all -O1
flavour_cflags_cov     := --coverage -O0
flavour_cflags_pgo     := -fprofile-use -Wno-missing-profile -flto=auto -Wno-stringop-overread
flavour_cflags_learn   := -fprofile-generate -fprofile-update=prefer-atomic
flavour_cflags_uncounted := -DSTATS_ARE_COUNTED=false
FLAVOUR_CFLAGS := $(flavour_cflags_$(or $(filter learn,$(PGO)),$(FLAVOUR)))

# ---- targets

TARGETS := linux-glibc linux-musl linux-glibc-legacy generic
ifeq ($(TARGET),)
ifeq ($(shell uname -s),Linux)
TARGET := $(if $(findstring musl,$(shell $(CC) -dumpmachine 2>/dev/null)),linux-musl,linux-glibc)
else
TARGET := generic
endif
endif
ifneq ($(filter-out $(TARGETS),$(TARGET)),)
$(error TARGET=$(TARGET) is unknown. Supported: $(TARGETS))
endif
LINUX := $(filter linux-%,$(TARGET))

# ---- options: one row each, cells separated by '|', words of a cell by ',', '-' for an empty cell
#
# name | pkg-config names, first found | header | -l without pkg-config | sources when on | when off
#
# An option whose "sources when on" do not exist is off: its library is not linked for nothing. '*'
# there says that a library is used by files that are always built.

OPTION_ROWS := \
 OPENSSL|openssl|openssl/ssl.h|-lssl,-lcrypto|src/tls/*.c,src/tls/*/*.c,src/*/*_openssl.c,src/quic/*.c,src/h3/*.c,src/ext/acme/*.c|src/*/tls_none.c,src/*/*_openssl_none.c,src/*/quic_none.c,src/ext/acme_none.c \
 IPSEC_MB|-|intel-ipsec-mb.h|-lIPSec_MB|src/tls/gcm.c|src/tls/gcm_none.c \
 PCRE2|libpcre2-8|pcre2.h|-lpcre2-8|*|- \
 PCRE2_JIT|-|-|-|*|- \
 LUA|lua5.4,lua-5.4,lua54,lua|lua.h|-llua5.4,-lm|src/ext/lua/*.c|src/ext/lua_none.c \
 ZLIB|zlib|zlib.h|-lz|src/*/*_zlib.c|src/*/zlib_none.c \
 ISAL|libisal|isa-l.h|-lisal|src/*/*_isal.c|src/*/isal_none.c \
 BROTLI|-|brotli/decode.h|-lbrotlienc,-lbrotlidec|src/*/*_brotli.c|src/*/brotli_none.c \
 ZSTD|libzstd|zstd.h|-lzstd|src/*/*_zstd.c|src/*/zstd_none.c \
 CARES|libcares|ares.h|-lcares|src/*/*_cares.c|src/*/cares_none.c \
 LIBCRYPT|-|crypt.h|-lcrypt|src/*/*_crypt.c,src/*/crypt.c|src/*/crypt_none.c \
 MEMORY_PROFILING|-|$(if $(filter linux-glibc%,$(TARGET)),$(if $(filter \
address thread fuzz,$(FLAVOUR)),no-sanitizer,malloc.h),glibc)|-|src/base/memory_profile_glibc.c|src/base/memory_profile_none.c \
 PROMEX|-|-|-|src/ext/prometheus*.c|src/ext/prometheus_none.c \
 EPOLL|-|$(if $(LINUX),sys/epoll.h,not-linux)|-|src/core/poll_epoll.c|src/core/poll_epoll_none.c

# always built in, shown by -vv: "+X"; the others that HAProxy knows are shown as "-X"
BUILT_IN := MATH POLL SHM_OPEN THREAD TRACE $(if $(LINUX),ACCEPT4 BACKTRACE CPU_AFFINITY DL \
            GETADDRINFO HAVE_TCP_MD5SIG LINUX_CAP LINUX_SPLICE LINUX_TPROXY NETFILTER NS PRCTL RT \
            TFO THREAD_DUMP TPROXY)
LEFT_OUT := 51DEGREES CLOSEFROM DEVICEATLAS ECH ENGINE EVPORTS KQUEUE KTLS LIBATOMIC \
            OBSOLETE_LINKER OPENSSL_AWSLC OPENSSL_WOLFSSL OT PCRE PCRE_JIT PROCCTL \
            PTHREAD_EMULATION SLZ STATIC_PCRE STATIC_PCRE2 WURFL
# accepted and without effect: what they ask for is always the case where it is needed
ALWAYS   := ACME QUIC QUIC_OPENSSL_COMPAT SYSTEMD CRYPT_H

cell   = $(filter-out -,$(subst $(comma),$(space),$(word $(2),$(subst |,$(space),$(1)))))
name   = $(call cell,$(1),1)
globs  = $(wildcard $(filter-out *,$(1)))
OPTION_NAMES := $(foreach r,$(OPTION_ROWS),$(call name,$(r)))

ifneq ($(BUILDING),)

asked := $(foreach v,$(filter USE_%,$(.VARIABLES)),$(if $(filter command% environment%,$(origin $(v))),$(v)))
asked_on := $(foreach v,$(asked),$(if $(call is,$($(v))),$(v:USE_%=%)))
asked_off := $(filter-out $(asked_on),$(asked:USE_%=%))
$(foreach x,$(filter $(LEFT_OUT),$(asked_on)),$(error USE_$(x)=1: this program is not built with \
  $(x)$(if $(filter SLZ,$(x)), (USE_ZLIB=1 compresses))$(if $(filter PCRE%,$(x)), (USE_PCRE2=1 is used))))
$(foreach x,$(filter $(BUILT_IN),$(asked_off)),$(error USE_$(x)=0: $(x) cannot be left out))
$(foreach x,$(filter-out $(OPTION_NAMES) $(BUILT_IN) $(LEFT_OUT) $(ALWAYS),$(asked_on)),\
  $(if $(filter command%,$(origin USE_$(x))),$(error USE_$(x) is unknown)))

have_pkg_config := $(shell command -v $(PKG_CONFIG) >/dev/null 2>&1 && echo yes)
# prefix NAME: SSL_INC, SSL_LIB for OPENSSL; the name for the others
prefix = $(if $(filter OPENSSL,$(1)),SSL,$(1))
# links HEADER,FLAGS: "yes" when a program using them links
links = $(shell printf '\043include <$(1)>\nint main(void) { return 0; }\n' | \
          $(CC) -x c - -o /dev/null $(2) $(LDFLAGS) >/dev/null 2>&1 && echo yes)
# found ROW: sets NAME_cflags, NAME_libs and NAME_how, the last empty when it was not found
define found
$(1)_dirs := $$(addprefix -I,$$($(call prefix,$(1))_INC)) $$(addprefix -L,$$($(call prefix,$(1))_LIB))
ifeq ($(3),)
$(1)_how := built in
else ifneq ($$(strip $$($(1)_dirs)),)
$(1)_how := in $$(strip $$($(1)_dirs))
$(1)_cflags := $$(filter -I%,$$($(1)_dirs))
$(1)_libs := $$(filter -L%,$$($(1)_dirs)) $(4)
else ifneq ($$(and $(2),$(have_pkg_config)),)
$(1)_pkg := $$(firstword $$(foreach p,$(2),$$(shell $(PKG_CONFIG) --exists $$(p) 2>/dev/null && echo $$(p))))
ifneq ($$($(1)_pkg),)
$(1)_how := $$($(1)_pkg) $$(shell $(PKG_CONFIG) --modversion $$($(1)_pkg))
$(1)_cflags := $$(shell $(PKG_CONFIG) --cflags $$($(1)_pkg))
$(1)_libs := $$(shell $(PKG_CONFIG) --libs $$($(1)_pkg))
endif
else ifneq ($$(call links,$(3),$(4)),)
$(1)_how := <$(3)>$$(addprefix $$(space),$(4))
$(1)_libs := $(4)
endif
$(1)_why := not found: $(if $(2),$(if $(have_pkg_config),pkg-config knows no $(2),no pkg-config; )) \
  $(if $(and $(2),$(have_pkg_config)),,<$(3)> $(4) does not link)
endef
# decide ROW: sets NAME_on and NAME_why, refuses what was asked for and is not there
define decide
$(1)_files := $(if $(filter *,$(2)),*,$(filter-out $(call globs,$(3)),$(call globs,$(2))))
ifneq ($(filter $(1),$(asked_off)),)
$(1)_why := USE_$(1)=$(USE_$(1))
else ifeq ($$($(1)_how),)
ifneq ($(filter $(1),$(asked_on)),)
$$(error USE_$(1)=1: $$(strip $$($(1)_why)). Install it ("make deps") or use USE_$(1)=0)
endif
else ifeq ($$($(1)_files),)
$(1)_why := found, but nothing in this version uses it
else
$(1)_on := yes
endif
endef
$(foreach r,$(OPTION_ROWS),$(eval $(call found,$(call name,$(r)),$(call cell,$(r),2),$(call \
  cell,$(r),3),$(call cell,$(r),4))))
$(foreach r,$(OPTION_ROWS),$(eval $(call decide,$(call name,$(r)),$(call cell,$(r),5),$(call cell,$(r),6))))
ifeq ($(PCRE2_on),)
$(error PCRE2 is required: $(strip $(PCRE2_why)). "make deps" installs it, or see INSTALL)
endif
IPSEC_MB_on := $(and $(OPENSSL_on),$(IPSEC_MB_on))
# OpenSSL 3.5 or later has an interface for QUIC; the other layer is for older ones, or as USE_QUIC_OPENSSL_COMPAT=1 asks
QUIC_INTERFACE := $(if $(filter QUIC_OPENSSL_COMPAT,$(asked_on)),,$(if $(OPENSSL_on),$(shell \
  printf '\043include <openssl/core_dispatch.h>\nint n = OSSL_FUNC_SSL_QUIC_TLS_CRYPTO_SEND;\n' | \
  $(CC) -x c - -c -o /dev/null $(OPENSSL_cflags) $(ADDINC) >/dev/null 2>&1 && echo yes)))
OPTIONS_ON  := $(foreach x,$(OPTION_NAMES),$(if $($(x)_on),$(x)))
OPTIONS_OFF := $(filter-out $(OPTIONS_ON),$(OPTION_NAMES))
OPTION_LINES = $(foreach x,$(OPTION_NAMES),  $(if $($(x)_on),on   $(x): $($(x)_how),off  $(x): $(strip \
  $($(x)_why)))$(newline))   on   SYSTEMD: built in, libsystemd is not needed

# ---- flags

OPT_CFLAGS   ?= -O2
DEBUG_CFLAGS ?= -g
# (a profile brings warnings of its own: what it lacks, and what only looks wrong once all is inlined)
STD_CFLAGS  := -std=gnu11 -Wall -Wextra $(if $(filter-out pgo,$(FLAVOUR)),$(if $(call is,$(ERR)),-Werror)) -Wno-unused-parameter
DEBUG_DEFS  := $(if $(filter 1,$(DEBUG)),-DDEBUG_STRICT=1,$(filter -D%,$(DEBUG)))
# what a builder may read in -vv, then what has to be there
SHOWN_CFLAGS := $(strip $(OPT_CFLAGS) $(DEBUG_CFLAGS) $(STD_CFLAGS) $(flavour_cflags_$(FLAVOUR)) $(CFLAGS))
# frame pointers cost a request one instruction in 20: for sanitizers and debugging only
FRAME_CFLAGS := $(if $(SAN)$(call is,$(DEBUG)),-fno-omit-frame-pointer)
ALL_CFLAGS  := -pthread $(FRAME_CFLAGS) $(OPT_CFLAGS) $(DEBUG_CFLAGS) $(STD_CFLAGS) $(FLAVOUR_CFLAGS) $(CFLAGS) -D_GNU_SOURCE $(DEBUG_DEFS) $(DEFINE) \
  $(OPTIONS_ON:%=-DUSE_%=1) $(sort $(foreach x,$(OPTIONS_ON),$($(x)_cflags))) -Iinclude $(ADDINC)
ALL_LDFLAGS := -pthread -rdynamic $(FLAVOUR_CFLAGS) $(filter -f% -m% -O%,$(OPT_CFLAGS) $(CFLAGS)) $(LDFLAGS)
LIBS        := $(foreach x,$(OPTIONS_ON),$($(x)_libs)) -ldl -lm $(ADDLIB)

ifeq ($(FLAVOUR),pgo)
ifneq ($(shell $(CC) -dM -E - </dev/null 2>/dev/null | grep __clang__),)
$(error PGO=1 is for gcc, and $(CC) is clang)
endif
endif
ifneq ($(filter address thread fuzz,$(FLAVOUR)),)
ifeq ($(call links,stdio.h,$(FLAVOUR_CFLAGS)),)
$(error $(CC) cannot link with $(FLAVOUR_CFLAGS): its run-time library is missing ("make test-deps"))
endif
endif

# ---- sources: all of them but those of the options' other choice

SRCS := $(wildcard src/*/*.c src/*/*/*.c)
SRCS := $(filter-out $(foreach r,$(OPTION_ROWS),$(if $($(call name,$(r))_on),$(call globs,$(call \
  cell,$(r),6)),$(filter-out $(call globs,$(call cell,$(r),6)),$(call globs,$(call cell,$(r),5))))),$(SRCS))
SRCS := $(filter-out src/tls/quic/$(if $(QUIC_INTERFACE),compat,native).c,$(SRCS))
OBJS := $(SRCS:%.c=$(B)/%.o)
HALOG_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard admin/halog/*.c))

# "folder:allowed,allowed,..." for every folder, from the table of layers
FLOORS := $(shell awk '/^[0-9]/ { f[n] = $$1; d[n++] = $$2 } END { for (i = 0; i < n; i++) { \
  s = d[i]; for (j = 0; j < n; j++) if (f[j] < f[i]) s = s "," d[j]; print d[i] ":" s } }' \
  doc/internals/layers.txt)
FOLDERS := $(foreach f,$(FLOORS),$(firstword $(subst :, ,$(f))))
# in FOLDER,FILES: those of the folder
in = $(filter $(B)/src/$(1)/%,$(2))
floors = $(subst $(comma),$(space),$(patsubst $(1):%,%,$(filter $(1):%,$(FLOORS))))
archives = $(foreach d,$(1),$(if $(call in,$(d),$(OBJS)),$(B)/lib$(d).a))
grouped = -Wl,--start-group $(1) -Wl,--end-group

# ---- what the objects were made with: a change of it makes them again

FLAGS := $(B)/flags$(if $(filter learn,$(PGO)),.learn)
flags_now := $(CC) $(ALL_CFLAGS) ; $(ALL_LDFLAGS) $(LIBS)
ifneq ($(file <$(FLAGS)),$(flags_now))
$(shell mkdir -p $(B))
$(file >$(FLAGS),$(flags_now))
ifeq ($(filter options,$(GOALS)),)
$(info Options for TARGET=$(TARGET) CC=$(CC) in $(B):)
$(info $(OPTION_LINES))
endif
endif

c_string = "$(subst ",\",$(subst \,\\,$(strip $(1))))"
WITH_TLS := ACME SSL QUIC
FEATURES := $(sort $(addsuffix +,$(OPTIONS_ON) $(BUILT_IN) $(if $(OPENSSL_on),$(WITH_TLS))) \
  QUIC_OPENSSL_COMPAT$(if $(OPENSSL_on),$(if $(QUIC_INTERFACE),-,+),-) \
  $(addsuffix -,$(OPTIONS_OFF) $(LEFT_OUT) $(if $(OPENSSL_on),,$(WITH_TLS))))
FEATURES := $(foreach f,$(FEATURES),$(if $(filter %+,$(f)),+$(f:%+=%),-$(f:%-=%)))
define build_info
/* written by the Makefile: what this binary was built with. Included by src/main only. */
#ifndef BUILD_INFO_H
#define BUILD_INFO_H
#define BUILD_VERSION $(call c_string,$(VERSION)$(SUBVERS)$(EXTRAVERSION))
#define BUILD_DATE $(call c_string,$(VERDATE))
#define BUILD_TARGET $(call c_string,$(TARGET))
#define BUILD_CC $(call c_string,$(CC))
#define BUILD_CFLAGS $(call c_string,$(SHOWN_CFLAGS))
#define BUILD_OPTIONS $(call c_string,$(foreach v,$(sort $(asked)),$(v)=$($(v))))
#define BUILD_DEBUG $(call c_string,$(DEBUG_DEFS))
#define BUILD_FEATURES $(call c_string,$(FEATURES))
#endif
endef
ifneq ($(file <$(B)/build_info.h),$(build_info))
$(file >$(B)/build_info.h,$(build_info))
endif

# ---- rules

.PHONY: all
all: $(BINARY) $(HALOG) $(NAMES)

$(NAMES): $(BINARY)
	$(Q)ln -sf haproxy $@

$(BINARY): $(OBJS) $(FLAGS)
	$(if $(OBJS),,$(error there is no source under src/))
	$(call said,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(OBJS) $(LIBS)

$(HALOG): $(HALOG_OBJS) $(FLAGS)
	$(call said,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(HALOG_OBJS)

$(B)/src/main/%.o: ALL_CFLAGS += -I$(B)
$(B)/src/main/%.o: $(B)/build_info.h
# the page's style and script, as strings
$(B)/stats_page_assets.h: src/ext/stats_page.css src/ext/stats_page.js Makefile
	@mkdir -p $(@D)
	$(Q)for f in css js; do echo "static const char stats_page_$$f[] ="; \
	  sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' src/ext/stats_page.$$f; echo ';'; done >$@
$(B)/src/ext/stats_page_html.o: ALL_CFLAGS += -I$(B)
$(B)/src/ext/stats_page_html.o: $(B)/stats_page_assets.h
$(B)/%.o: %.c $(FLAGS)
	$(call said,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# PGO=1: a program that counts how often it takes each way, under the load of scripts/train, writes that beside its
# objects; then these are made anew, by it. (gcc finds what it wrote only if the objects have the same names.)
ifeq ($(FLAVOUR)$(PGO),pgo1)
$(OBJS) $(HALOG_OBJS): $(B)/learnt
$(B)/learnt: $(SRCS) $(wildcard include/*/*.h src/*/*.h src/*/*/*.h) scripts/train
	@rm -rf $(B)/src $(B)/admin
	$(Q)$(MAKE) --no-print-directory PGO=learn $(B)/haproxy
	$(call said,TRAIN,$(B)/haproxy)
	$(Q)$(PYTHON) scripts/train $(B)/haproxy
	@touch $@
endif

define folder_rules
$(B)/lib$(1).a: $(call in,$(1),$(OBJS))
	$$(call said,AR,$$@)
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
$(B)/tests/unit/$(1)/t_%: $(B)/tests/unit/$(1)/t_%.o $(call archives,$(call floors,$(1)))
	$$(call said,LD,$$@)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$< $(call grouped,$(call archives,$(call floors,$(1)))) $$(LIBS)
$(B)/tests/unit/$(1)/%.o: ALL_CFLAGS += -Itests/unit -Isrc/$(1)
endef
$(foreach d,$(FOLDERS),$(eval $(call folder_rules,$(d))))
ARCHIVES := $(call archives,$(FOLDERS))

UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*/t_*.c))
UNIT_TESTS := $(foreach t,$(UNIT_TESTS),$(if $(or $(if $(T),,all),$(findstring $(T),$(t))),$(t)))
.SECONDARY: $(UNIT_TESTS:%=%.o)
.PHONY: unit
unit: $(UNIT_TESTS)
	@$(PYTHON) scripts/run-tap --name unit --flavour $(FLAVOUR) $(sort $(UNIT_TESTS))

FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fz_*.c))
FUZZ_FLOORS := $(call archives,$(filter-out main,$(FOLDERS)))
.SECONDARY: $(FUZZERS:%=%.o) $(B)/tests/fuzz/replay.o
$(B)/tests/fuzz/fz_%: $(B)/tests/fuzz/fz_%.o $(B)/tests/fuzz/replay.o $(FUZZ_FLOORS)
	$(call said,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(filter fuzz,$(FLAVOUR)),-fsanitize=fuzzer) -o $@ $< \
	  $(if $(filter fuzz,$(FLAVOUR)),,$(B)/tests/fuzz/replay.o) $(call grouped,$(FUZZ_FLOORS)) $(LIBS)
.PHONY: fuzz-replay fuzz fuzz-run
fuzz-replay: $(FUZZERS)
	@$(PYTHON) scripts/run-fuzz --replay --flavour $(FLAVOUR) $(sort $(FUZZERS))
fuzz:
	@$(MAKE) --no-print-directory SAN=fuzz CC=$(or $(FUZZ_CC),clang) DEBUG=1 fuzz-run
fuzz-run: $(FUZZERS)
	@$(PYTHON) scripts/run-fuzz --seconds $(FUZZ_SECONDS) --flavour $(FLAVOUR) $(sort $(FUZZERS))

.PHONY: lint archives
archives: $(ARCHIVES)
lint: $(ARCHIVES) $(BINARY)
	@$(PYTHON) scripts/lint --objects $(B) --program ./$(BINARY)

.PHONY: reg-tests system-tests
reg-tests: $(if $(filter ./$(BINARY),$(PROGRAM)),$(BINARY))
	@$(PYTHON) scripts/run-regtests --program $(PROGRAM) --flavour $(FLAVOUR) $(REGTEST_FLAGS) $(REGTEST_ARGS)
# the longest ones begin first; most of them wait for timers, so that two cores have enough for four
SYSTEM_TESTS := $(sort $(filter-out tests/system/lib%.py,$(wildcard tests/system/*.py)))
SYSTEM_FIRST := $(patsubst %,tests/system/%.py,expressions acme manual peers cache_beyond master_survives \
  faults_services fcgi decompression changed_defaults lua_sockets fcgi_differential dumps tls_matrix)
system-tests: $(if $(filter ./$(BINARY),$(PROGRAM)),$(BINARY)) $(HALOG) $(NAMES)
	@HAPROXY_PROGRAM=$(abspath $(PROGRAM)) $(PYTHON) scripts/run-tap --name system --jobs 4 --flavour $(FLAVOUR) --again 3 \
	  $(filter $(SYSTEM_FIRST),$(SYSTEM_TESTS)) $(filter-out $(SYSTEM_FIRST),$(SYSTEM_TESTS))

.PHONY: check-sandbox
check-sandbox: $(BINARY)
	@scripts/check-sandbox $(JOBS)

# with a filter that cuts bytes at random, then, for what that cannot be done with, one that looks only
.PHONY: check-filters
FILTER_AREAS ?= http h2 tcp tls
check-filters: $(BINARY)
	@set -e; for f in "trace quiet random-forwarding" "trace quiet"; do echo "filter $$f:"; \
	  $(PYTHON) scripts/run-regtests --program $(PROGRAM) --flavour $(FLAVOUR) --jobs $(JOBS) --again 3 \
	  --filter "$$f" $(FILTER_AREAS); done

# a browser is asked for by this target only
.PHONY: check-systemd
check-systemd: $(BINARY)
	@scripts/check-systemd $(CHECK_SYSTEMD_ARGS)

.PHONY: check-page
check-page: $(BINARY)
	@scripts/install-deps page
	@HAPROXY_PROGRAM=$(abspath $(PROGRAM)) $(PYTHON) tests/page/page.py --shots build/page

.PHONY: check-prometheus
check-prometheus: $(BINARY)
	@scripts/install-deps prometheus
	@HAPROXY_PROGRAM=$(abspath $(PROGRAM)) $(PYTHON) tests/prometheus/scrape.py $(PROMETHEUS_ARGS)

.PHONY: check-servers
check-servers: $(BINARY)
	@scripts/install-deps servers
	@$(PYTHON) tests/system/check_servers.py --program $(abspath $(PROGRAM)) \
	  $(if $(wildcard $(REFERENCE)),--reference "$(REFERENCE)")

.PHONY: options doc
options:
	$(info $(OPTION_LINES))@:
doc: $(BINARY)
	@$(PYTHON) scripts/make-keyword-tables --program ./$(BINARY)
	@$(PYTHON) scripts/make-file-tables
	@$(PYTHON) scripts/make-differences
	@$(PYTHON) scripts/make-completion --program ./$(BINARY)

.PHONY: completion
completion: $(BINARY)
	@$(PYTHON) scripts/make-completion --program ./$(BINARY)

.PHONY: install install-bin install-man install-doc install-completion install-systemd
install: install-bin install-man install-doc install-completion
install-bin: $(BINARY) $(HALOG) $(NAMES)
	$(Q)$(INSTALL) -d "$(DESTDIR)$(SBINDIR)"
	$(Q)$(INSTALL) -m 755 $(BINARY) "$(DESTDIR)$(SBINDIR)/haproxy"
	$(Q)$(INSTALL) -m 755 $(HALOG) "$(DESTDIR)$(SBINDIR)/halog"
	$(Q)for name in $(notdir $(NAMES)); do ln -sf haproxy "$(DESTDIR)$(SBINDIR)/$$name"; done
install-man:
	$(Q)$(INSTALL) -d "$(DESTDIR)$(MANDIR)/man1"
	$(Q)$(INSTALL) -m 644 doc/haproxy.1 doc/halog.1 doc/haterm.1 doc/haload.1 "$(DESTDIR)$(MANDIR)/man1/"
install-doc:
	$(Q)$(INSTALL) -d "$(DESTDIR)$(DOCDIR)"
	$(Q)$(INSTALL) -m 644 README.md INSTALL LICENSE examples/quickstart.cfg "$(DESTDIR)$(DOCDIR)"
install-completion:
	$(Q)$(INSTALL) -d "$(DESTDIR)$(BASHCOMPDIR)" "$(DESTDIR)$(ZSHCOMPDIR)"
	$(Q)$(INSTALL) -m 644 admin/completion/haproxy.bash "$(DESTDIR)$(BASHCOMPDIR)/haproxy"
	$(Q)$(INSTALL) -m 644 admin/completion/_haproxy "$(DESTDIR)$(ZSHCOMPDIR)/_haproxy"
install-systemd:
	$(Q)$(INSTALL) -d "$(DESTDIR)$(UNITDIR)"
	$(Q)sed 's:@SBINDIR@:$(SBINDIR):g' admin/systemd/haproxy.service.in >$(B)/haproxy.service
	$(Q)$(INSTALL) -m 644 $(B)/haproxy.service "$(DESTDIR)$(UNITDIR)/haproxy.service"

-include $(OBJS:.o=.d) $(HALOG_OBJS:.o=.d) $(UNIT_TESTS:%=%.d) $(FUZZERS:%=%.d)
endif

# ---- goals that need nothing to be there yet

.PHONY: help clean deps test-deps quickstart check check-bare check-reference scripts-test bench dist deb check-deb image
help:
	@sed -n 's/^#: \{0,1\}//p' Makefile
clean:
	$(Q)rm -rf $(filter-out build/tools,$(wildcard build/*)) haproxy halog haterm haload
deps:
	@scripts/install-deps build
test-deps:
	@scripts/install-deps build test
quickstart:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@scripts/quickstart ./haproxy
check:
	@scripts/install-deps build test || { echo "0 passed, 1 failed"; exit 1; }
	@MAKEFLAGS= MAKE="$(MAKE)" scripts/check $(JOBS) "$(SAN)" $(MAKEOVERRIDES)
check-bare:
	@scripts/install-deps bare
	@scripts/check-bare $(CHECK_BARE_ARGS)
check-reference:
	@$(PYTHON) scripts/run-regtests --program "$(REFERENCE)" --reference $(or $(REGTEST_FLAGS),--again 3) \
	  $(REGTEST_ARGS)
	$(if $(REGTEST_ARGS),,@$(PYTHON) tests/system/expressions.py --reference "$(REFERENCE)")
dist:
	@scripts/make-dist $(VERSION)$(SUBVERS)$(EXTRAVERSION)
image:
	@scripts/make-image $(VERSION)$(SUBVERS)$(EXTRAVERSION)
deb:
	@scripts/make-deb $(VERSION)$(SUBVERS)$(EXTRAVERSION) $(JOBS)
check-deb:
	@scripts/check-deb $(VERSION)$(SUBVERS)$(EXTRAVERSION)
scripts-test:
	@$(PYTHON) scripts/run-tap --name scripts scripts/t_checks.py
bench:
	@$(PYTHON) bench/compare.py --proxy ref="$(REFERENCE)" --proxy new=./haproxy --floor $(BENCH_ARGS)
