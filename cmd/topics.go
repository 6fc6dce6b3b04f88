package cmd

import "strings"

// helpTopic is a help text that belongs to no command.
type helpTopic struct{ name, text string }

func helpTopics() []helpTopic {
	all := []helpTopic{
		{"exit-status", exitStatusText},
		{"environment", environmentText},
	}
	for _, m := range manuals() {
		all = append(all, helpTopic{m.name, m.topicText()})
	}
	return all
}

func findTopic(name string) (helpTopic, bool) {
	for _, t := range helpTopics() {
		if t.name == name {
			return t, true
		}
	}
	return helpTopic{}, false
}

func topicNames() string {
	var names []string
	for _, t := range helpTopics() {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

const exitStatusText = `Exit status:
    0  everything that was asked for is done
    1  failed; the message says what
    2  usage: unknown flag, wrong value, invalid name or config, missing
       argument or --yes; a command that makes no sense on this kind of root
    3  no such topic, partition, group or root; or an offset out of range
    4  damaged data met or found, also when --skip-corrupt went on behind it
    5  busy: a lock was not obtained in time, or living members are in the way
    6  not the leader, fenced, or not enough in-sync replicas
    7  no space where the log is: disk full, quota, file-size limit
    8  partly done: some of several items failed or were skipped; when all
       failed, the first one's status
    9  a handler failed for good and no dead-letter topic is set
  124  timed out waiting
  129, 130, 143  ended by SIGHUP, SIGINT, SIGTERM, in order
  141  the reader of the output went away

klog ends by the signal itself, so that a loop in a shell ends on Ctrl-C.
`

const environmentText = `Environment:
  KLOG_ROOT          where the logs are, as --root
  KLOG_LOCK_TIMEOUT  how long to wait for a lock, as --lock-timeout
  KLOG_QUIET         anything but empty: as --quiet
  KLOG_SYNC          when produce syncs, as its --sync
  NO_COLOR           anything but empty: no colours

A flag comes before the environment. Without a root of either kind it is
/var/lib/klog for root; for others $XDG_DATA_HOME/klog, else
$HOME/.local/share/klog. Other variables that are read: TERM, TZ.
`
