# SPDX-License-Identifier: MIT
# Options from environment variables: rows, parsing, messages, the listing.

options_sources = \
	options/option_file.c \
	options/option_file.h \
	options/option_list.c \
	options/option_signal.c \
	options/option_table.c \
	options/option_table.h \
	options/option_text.c
