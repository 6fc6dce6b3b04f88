package interop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// broker is a Kafka cluster of one node with files of its own. It can be killed,
// stopped and started again.
type broker struct {
	t       *testing.T
	dir     string // of the program
	logDir  string
	address string

	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when the process is gone
}

// startBroker makes a cluster and starts it.
func startBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir()}
	b.logDir = filepath.Join(b.dir, "kafka-logs")
	t.Cleanup(b.kill)
	for try := 1; ; try++ {
		b.configure()
		err := b.tryStart()
		if err == nil {
			return b
		}
		// Between the choice of a port and its use another process may have taken it.
		if try == 3 || !strings.Contains(b.said(), "Address already in use") {
			t.Fatalf("start a broker: %v\n%s", err, b.said())
		}
	}
}

// configure writes the settings, on ports that are free, and formats the log directory.
func (b *broker) configure() {
	b.t.Helper()
	if err := os.RemoveAll(b.logDir); err != nil {
		b.t.Fatal(err)
	}
	broker, controller := freePorts(b.t)
	b.address = broker
	settings := fmt.Sprintf(`process.roles=broker,controller
node.id=1
controller.quorum.voters=1@%[2]s
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s
advertised.listeners=PLAINTEXT://%[1]s
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=%[3]s
num.network.threads=1
num.io.threads=2
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
`, broker, controller, b.logDir)
	if err := os.WriteFile(b.settings(), []byte(settings), 0o666); err != nil {
		b.t.Fatal(err)
	}
	java(b.t, "kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", b.settings())
}

func (b *broker) settings() string { return filepath.Join(b.dir, "server.properties") }

// freePorts are two addresses that nobody listens on.
func freePorts(t *testing.T) (string, string) {
	t.Helper()
	var found [2]string
	for i := range found {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		found[i] = l.Addr().String()
	}
	return found[0], found[1]
}

// start starts the broker again, and returns when it serves clients.
func (b *broker) start() {
	b.t.Helper()
	if err := b.tryStart(); err != nil {
		b.t.Fatalf("start the broker: %v\n%s", err, b.said())
	}
}

func (b *broker) tryStart() error {
	// The shell that reads standard input ends the whole process group when this
	// test process has gone, however it went; the broker takes the other's place.
	args := append([]string{"-c", `exec 3<&0; { cat <&3 > /dev/null; kill -9 0; } & exec "$@" 3<&- < /dev/null`, "sh", "java"}, javaArgs(b.t)...)
	c := exec.Command("sh", append(args, "kafka.Kafka", b.settings())...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(b.log())
	if err != nil {
		return err
	}
	defer log.Close()
	c.Stdout, c.Stderr = log, log
	if b.stdin, err = c.StdinPipe(); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	b.cmd, b.ended = c, make(chan struct{})
	go func() {
		c.Wait()
		close(b.ended)
	}()
	return b.waitReady()
}

// waitReady waits until the broker answers.
func (b *broker) waitReady() error {
	deadline := time.Now().Add(patience)
	for {
		select {
		case <-b.ended:
			return fmt.Errorf("it ended: %v", b.cmd.ProcessState)
		default:
		}
		err := b.ping()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			b.kill()
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (b *broker) ping() error {
	c, err := net.Dial("tcp", b.address)
	if err != nil {
		return err
	}
	c.Close()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.address))
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return cl.Ping(ctx)
}

// kill ends the broker at once, as a crash of its process does.
func (b *broker) kill() {
	if b.cmd == nil {
		return
	}
	syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	<-b.ended
	b.cmd = nil
}

// stop ends the broker in order.
func (b *broker) stop() {
	b.t.Helper()
	b.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-b.ended:
	case <-time.After(patience):
		b.t.Fatalf("the broker does not stop\n%s", b.said())
	}
	b.kill()
	if _, err := os.Stat(filepath.Join(b.logDir, ".kafka_cleanshutdown")); err != nil {
		b.t.Fatalf("the broker did not stop in order: %v\n%s", err, b.said())
	}
}

func (b *broker) log() string { return filepath.Join(b.dir, "broker.log") }

// said is the end of the broker's output.
func (b *broker) said() string {
	out, err := os.ReadFile(b.log())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	return string(bytes.ToValidUTF8(out[max(0, len(out)-4000):], nil))
}

// partition is a partition's directory.
func (b *broker) partition(topic string, n int) string {
	return filepath.Join(b.logDir, fmt.Sprintf("%s-%d", topic, n))
}
