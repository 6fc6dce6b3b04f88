package vfs

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func statfs(path string) (unix.Statfs_t, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(path, &st)
		switch err {
		case nil:
			return st, nil
		case unix.EINTR:
		default:
			return st, &fs.PathError{Op: "statfs", Path: path, Err: err}
		}
	}
}

func space(path string) (free, total uint64, err error) {
	st, err := statfs(path)
	if err != nil {
		return 0, 0, err
	}
	unit := uint64(st.Frsize)
	if unit == 0 {
		unit = uint64(st.Bsize)
	}
	return st.Bavail * unit, st.Blocks * unit, nil
}

func fsType(path string) (Type, error) {
	st, err := statfs(path)
	if err != nil {
		return Type{}, err
	}
	magic := uint32(st.Type)
	if name := localName(magic); name != "" {
		return Type{Name: name}, nil
	}
	t := Type{Name: sharedName(magic), Shared: true}
	// One number for sshfs, virtiofs and a hundred others: the mount says which, and
	// with what options.
	name, options := mountOf(path)
	if name != "" && (t.Name == "" || t.Name == "fuse") {
		t.Name = name
	}
	if t.Name == "" {
		t.Name = fmt.Sprintf("unknown (0x%x)", magic)
	}
	t.Options = options
	return t, nil
}

// localName names the file systems whose flock and page cache are the kernel's own.
func localName(magic uint32) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4" // and ext2, ext3
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs"
	case 0x2fc12fc1:
		return "zfs"
	case 0xca451a4e:
		return "bcachefs"
	case 0x3153464a:
		return "jfs"
	case unix.REISERFS_SUPER_MAGIC:
		return "reiserfs"
	case unix.NILFS_SUPER_MAGIC:
		return "nilfs2"
	case unix.MSDOS_SUPER_MAGIC:
		return "vfat"
	case unix.EXFAT_SUPER_MAGIC:
		return "exfat"
	case 0x7366746e:
		return "ntfs3"
	case 0x482b:
		return "hfsplus"
	case 0x15013346:
		return "udf"
	case unix.ISOFS_SUPER_MAGIC:
		return "iso9660"
	case unix.SQUASHFS_MAGIC:
		return "squashfs"
	case unix.EROFS_SUPER_MAGIC_V1:
		return "erofs"
	case unix.ECRYPTFS_SUPER_MAGIC:
		return "ecryptfs"
	}
	return ""
}

// sharedName names those that are known and not local.
func sharedName(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "cifs"
	case unix.SMB_SUPER_MAGIC:
		return "smb"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case 0x0bd00bd0:
		return "lustre"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.OCFS2_SUPER_MAGIC:
		return "ocfs2"
	case 0x01161970:
		return "gfs2"
	case 0x47504653:
		return "gpfs"
	case 0x19830326:
		return "beegfs"
	case 0x20030528:
		return "orangefs"
	case 0xaad7aaea:
		return "panfs"
	case 0xbeefdead:
		return "snfs"
	case 0x786f4256:
		return "vboxsf"
	case 0xbacbacbc:
		return "vmhgfs"
	case 0x7c7c6673:
		return "prl_fs"
	case 0x53464846:
		return "drvfs"
	case 0x61756673:
		return "aufs"
	}
	return ""
}

// mountOf looks type and options of path's mount up in /proc/self/mountinfo, by its
// device number; empty where it is not found.
func mountOf(path string) (name, options string) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", ""
	}
	f, err := openFile("/proc/self/mountinfo", os.O_RDONLY, 0)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	dev := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
		mount, super, ok := strings.Cut(sc.Text(), " - ")
		m, s := strings.Fields(mount), strings.Fields(super)
		if !ok || len(m) < 6 || len(s) < 1 || m[2] != dev {
			continue
		}
		if len(s) == 3 {
			return s[0], m[5] + "," + s[2]
		}
		return s[0], m[5]
	}
	return "", ""
}
