"""Reads messages with Python's `email` package: a JSON array of base64 on stdin, a JSON array of what it found on stdout."""

import base64
import json
import sys
from email import message_from_bytes, message_from_string, policy


def parse(raw):
    """Addresses outside ASCII stand in headers as they are (RFC 6532): such a message is UTF-8 text to this package, not bytes."""
    head = raw.split(b"\r\n\r\n", 1)[0]
    if head.isascii():
        return message_from_bytes(raw, policy=policy.SMTP)
    return message_from_string(raw.decode("utf-8"), policy=policy.SMTPUTF8)


def defects_of(message):
    """Those of the message, of each part, and of each header, which is parsed when it is asked for."""
    found = []
    for part in message.walk():
        found += [type(defect).__name__ for defect in part.defects]
        for name, value in part.items():
            found += [f"{name}: {type(defect).__name__}" for defect in value.defects]
    return found


def addresses(message, name):
    return [{"name": a.display_name, "address": a.addr_spec} for header in message.get_all(name, []) for a in header.addresses]


def content_of(part):
    if part.get_content_type() == "message/rfc822":
        return part.get_payload(0).as_bytes(policy=policy.SMTP)
    return part.get_payload(decode=True)


def part_of(part):
    content = content_of(part)
    is_text = part.get_content_maintype() == "text" and not part.get_filename()
    return {
        "type": part.get_content_type(),
        "disposition": part.get_content_disposition(),
        "filename": part.get_filename(),
        "contentId": part["content-id"] and str(part["content-id"]),
        "base64": base64.b64encode(content).decode(),
        "text": part.get_content() if is_text else None,
    }


def leaves(message):
    """The parts that hold something; what an attached message consists of is its own affair."""
    if message.is_multipart() and message.get_content_type() != "message/rfc822":
        return [leaf for part in message.iter_parts() for leaf in leaves(part)]
    return [message]


def read(raw):
    message = parse(raw)
    return {
        "defects": defects_of(message),
        "headers": [[name.lower(), str(value)] for name, value in message.items()],
        "from": addresses(message, "from"),
        "to": addresses(message, "to"),
        "replyTo": addresses(message, "reply-to"),
        "types": [part.get_content_type() for part in message.walk()],
        "longestLine": max(len(line) for line in raw.split(b"\r\n")),
        "parts": [part_of(part) for part in leaves(message)],
    }


json.dump([read(base64.b64decode(raw)) for raw in json.load(sys.stdin)], sys.stdout)
