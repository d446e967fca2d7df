#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# words.pl N: tables of words, lists and strings, of which random ones are replaced; N times.
use strict;
use warnings;

my $n = shift;
my $state = 12345;

sub draw {
    my ($most) = @_;
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int($state / 65536) % $most;
}

sub work {
    my (%table, @lists, $old);
    for my $i (1 .. $n) {
        my $word = join('', map { chr(97 + draw(26)) } 1 .. 3 + draw(8));
        push @{ $table{$word} }, $i;
        $lists[ draw(1000) ] = [ map { "$word $_" } 1 .. draw(20) ];
        if ($i % 50 == 0) {
            delete $table{$old} if defined $old;
            $old = $word;
        }
    }
    my ($sum, $text) = (0, '');
    for my $word (sort keys %table) {
        $text .= $word;
        $sum = ($sum + length($text) * @{ $table{$word} }) % 1000000007;
    }
    $sum = ($sum + (defined $_ ? scalar @$_ : 0)) % 1000000007 for @lists;
    return $sum;
}

print 'words ', work(), "\n";
select(undef, undef, undef, 0.3);
open(my $status, '<', '/proc/self/status') or die "/proc/self/status: $!";
while (<$status>) {
    print STDERR "resting_kb $1\n" if /^VmRSS:\s+(\d+)/;
}
