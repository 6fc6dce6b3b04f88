package cmd

import (
	"context"
	"time"

	"github.com/klog-project/klog/engine"
)

// completionPatience bounds how long a person waits for names after pressing Tab.
const completionPatience = 2 * time.Second

// topicNames are the topics of the root; none when it cannot be read.
func (e *Env) topicNames() []string {
	root, err := e.openRoot()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionPatience)
	defer cancel()
	names, err := root.Topics(ctx)
	if err != nil {
		return nil
	}
	return names
}

// deletedTopics offers the topics that can be brought back.
func (s *suggester) deletedTopics() {
	root, err := s.e.openRoot()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionPatience)
	defer cancel()
	gone, err := root.DeletedTopics(ctx)
	if err != nil {
		return
	}
	for _, t := range gone {
		s.offer(t.Name, "deleted")
	}
}

// configs offers the names of configs, with what stands behind a name.
func (s *suggester) configs(behind string) {
	if behind != "" {
		s.then = noSpace
	}
	for _, name := range engine.ConfigNames() {
		s.offer(name+behind, "")
	}
}
