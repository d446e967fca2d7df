# SPDX-License-Identifier: MIT
# Machines, and predictions of marks on them.
model_sources = \
	perfmodel/machine/bench.c \
	perfmodel/machine/bench.h \
	perfmodel/machine/bench_costs.c \
	perfmodel/machine/bench_memory.c \
	perfmodel/machine/bench_system.c \
	perfmodel/machine/keys.def \
	perfmodel/machine/machine.c \
	perfmodel/machine/machine.h \
	perfmodel/machine/machine_check.c \
	perfmodel/machine/machine_check.h \
	perfmodel/machine/machine_file.c \
	perfmodel/machine/machine_file.h \
	perfmodel/model/access.h \
	perfmodel/model/cache.c \
	perfmodel/model/cache.h \
	perfmodel/model/homes.c \
	perfmodel/model/homes.h \
	perfmodel/model/predict.c \
	perfmodel/model/predict.h \
	perfmodel/model/serial_mark.c \
	perfmodel/model/serial_mark.h \
	perfmodel/model/work.c \
	perfmodel/model/work.h

noinst_LTLIBRARIES += libsgcmodel.la
libsgcmodel_la_SOURCES = $(model_sources)
libsgcmodel_la_LIBADD = libsgcgraph.la -lm

machinesdir = $(pkgdatadir)/machines
dist_machines_DATA = \
	perfmodel/machines/e10k.machine \
	perfmodel/machines/o2k.machine \
	perfmodel/machines/rome2.machine

bin_PROGRAMS += perfmodel/tools/sgc-machine perfmodel/tools/sgc-predict
perfmodel_tools_sgc_machine_SOURCES = perfmodel/tools/sgc-machine.c $(output_sources) $(tool_sources)
perfmodel_tools_sgc_machine_LDADD = libsgcmodel.la libsgccore.la
perfmodel_tools_sgc_machine_CPPFLAGS = $(AM_CPPFLAGS) -DSGC_MACHINE_VERSION='"$(PACKAGE_VERSION)"'
perfmodel_tools_sgc_predict_SOURCES = perfmodel/tools/sgc-predict.c $(tool_sources)
perfmodel_tools_sgc_predict_LDADD = libsgcmodel.la libsgccore.la
perfmodel_tools_sgc_predict_CPPFLAGS = $(AM_CPPFLAGS) -DSGC_PREDICT_VERSION='"$(PACKAGE_VERSION)"' \
	-DSGC_MACHINES='"$(machinesdir)"'
