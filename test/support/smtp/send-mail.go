// Sends one email with Go's net/smtp. Arguments: host and port, key, sender.
package main

import (
	"crypto/tls"
	"fmt"
	"net/smtp"
	"os"
	"strings"
)

func main() {
	if err := send(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func send(address, key, from string) error {
	client, err := smtp.Dial(address)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.StartTLS(&tls.Config{InsecureSkipVerify: true}); err != nil {
		return err
	}
	if err := client.Auth(smtp.PlainAuth("", "apikey", key, "127.0.0.1")); err != nil {
		return err
	}
	if err := client.Mail(from); err != nil {
		return err
	}
	if err := client.Rcpt("go@to.test"); err != nil {
		return err
	}
	data, err := client.Data()
	if err != nil {
		return err
	}
	lines := []string{
		"From: " + from, "To: go@to.test", "Subject: From Go", "Message-ID: <go.1@sender.test>",
		"Content-Type: text/plain; charset=utf-8", "", ".a line with a dot", "Grüße", "",
	}
	if _, err := data.Write([]byte(strings.Join(lines, "\r\n"))); err != nil {
		return err
	}
	if err := data.Close(); err != nil {
		return err
	}
	return client.Quit()
}
