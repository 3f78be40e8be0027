// Starts mochi-mqtt with one WebSocket listener, everybody welcome, nothing on disk.
package main

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
)

func main() {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	server := mqtt.New(&mqtt.Options{Logger: logger})
	_ = server.AddHook(new(auth.AllowHook), nil)
	err := server.AddListener(listeners.NewWebsocket(listeners.Config{ID: "ws", Address: os.Args[1]}))
	if err == nil {
		err = server.Serve()
	}
	if err != nil {
		logger.Error("mochi-mqtt cannot start", "error", err)
		os.Exit(1)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
	_ = server.Close()
}
