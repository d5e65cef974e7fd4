# Makes all mounts of a sandbox in one process, where perl is installed. Otherwise sandbox.sh starts `mount` for each of them, which
# takes some 80 ms longer. The result is the same.
#
# Usage: mounts.pl NUMBER BASE ROOT [HOW SOURCE TARGET]... -- [anything]
#
# NUMBER is that of the system call mount; the rest is described in sandbox.sh. Each failure ends the program with an error.
use strict;
use warnings;

my ($mount_call, $base, $root) = splice @ARGV, 0, 3;
my $setattr_call = 442;
my ($at_fdcwd, $at_recursive) = (-100, 0x8000);
my ($attr_rdonly, $attr_nosuid, $attr_nodev) = (1, 2, 4);
my ($ms_rdonly, $ms_nosuid, $ms_nodev, $ms_noexec, $ms_bind, $ms_rec) = (1, 2, 4, 8, 4096, 16384);

sub fail {
  my ($what) = @_;
  print STDERR "sandbox: cannot $what: $!\n";
  exit 126;
}

# `syscall` passes strings by address and numbers by value. It wants variables, because the kernel might write into strings.
sub mount_at {
  my ($source, $target, $type, $flags, $data) = @_;
  syscall($mount_call + 0, $source, $target, $type, $flags + 0, $data) == 0
    or fail("mount $source at $target");
}

sub bind_at { mount_at($_[0], $_[1], 'none', $ms_bind | $ms_rec, '') }

sub restrict {
  my ($target, $flags, $attributes) = @_;
  my $struct = pack 'Q4', $attributes, 0, 0, 0;
  syscall($setattr_call, $at_fdcwd, $target, $flags, $struct, length $struct) == 0
    or fail("make $target read-only");
}

bind_at('/', $base);
restrict($base, $at_recursive, $attr_rdonly | $attr_nosuid | $attr_nodev);
bind_at($base, $root);

my $new = $ms_nosuid | $ms_nodev;
while ((my $how = shift @ARGV) ne '--') {
  my ($source, $target) = (shift @ARGV, $root . shift @ARGV);
  next if $how =~ s/-try$// && !-e $source;
  if    ($how eq 'ro')     { bind_at($base . $source, $target) }
  elsif ($how eq 'rw')     { bind_at($source, $target) }
  elsif ($how eq 'dev')    { bind_at($source, $target); restrict($target, 0, $attr_rdonly | $attr_nosuid) }
  elsif ($how eq 'proc')   { mount_at('proc', $target, 'proc', $ms_rdonly | $new | $ms_noexec, '') }
  elsif ($how eq 'tmpfs')  { mount_at('tmpfs', $target, 'tmpfs', $new, 'mode=1777') }
  elsif ($how eq 'devpts') {
    mount_at('devpts', $target, 'devpts', $ms_nosuid | $ms_noexec, 'newinstance,ptmxmode=0666,mode=620');
  }
  else { fail("mount $source at $target: $how is not known") }
}
