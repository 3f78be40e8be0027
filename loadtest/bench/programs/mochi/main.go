// Starts mochi-mqtt with one listener, everybody welcome, nothing on disk: mochi ADDRESS ws|tcp|tls [CERT KEY]
package main

import (
	"crypto/tls"
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
	listener, err := listen(os.Args[1], os.Args[2], os.Args[3:])
	if err == nil {
		err = server.AddListener(listener)
	}
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

func listen(address, wire string, files []string) (listeners.Listener, error) {
	config := listeners.Config{ID: wire, Address: address}
	if wire == "ws" {
		return listeners.NewWebsocket(config), nil
	}
	if wire == "tls" {
		certificate, err := tls.LoadX509KeyPair(files[0], files[1])
		if err != nil {
			return nil, err
		}
		config.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	}
	return listeners.NewTCP(config), nil
}
