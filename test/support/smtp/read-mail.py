"""Reads messages with Python's `email` package. Input: a JSON array of messages in base64. Output: a JSON array of results."""

import base64
import json
import sys
from email import message_from_bytes, message_from_string, policy


def parse(raw):
    """Parses a message. With UTF-8 in headers (RFC 6532), this package needs the message as text, not as bytes."""
    head = raw.split(b"\r\n\r\n", 1)[0]
    if head.isascii():
        return message_from_bytes(raw, policy=policy.SMTP)
    return message_from_string(raw.decode("utf-8"), policy=policy.SMTPUTF8)


def list_defects(message):
    """Lists the defects of the message, of each part, and of each header. Reading a header parses it."""
    found = []
    for part in message.walk():
        found += [type(defect).__name__ for defect in part.defects]
        for name, value in part.items():
            found += [f"{name}: {type(defect).__name__}" for defect in value.defects]
    return found


def list_addresses(message, name):
    return [{"name": a.display_name, "address": a.addr_spec} for header in message.get_all(name, []) for a in header.addresses]


def read_content(part):
    if part.get_content_type() == "message/rfc822":
        return part.get_payload(0).as_bytes(policy=policy.SMTP)
    return part.get_payload(decode=True)


def describe_part(part):
    content = read_content(part)
    is_text = part.get_content_maintype() == "text" and not part.get_filename()
    return {
        "type": part.get_content_type(),
        "disposition": part.get_content_disposition(),
        "filename": part.get_filename(),
        "contentId": part["content-id"] and str(part["content-id"]),
        "base64": base64.b64encode(content).decode(),
        "text": part.get_content() if is_text else None,
    }


def list_leaves(message):
    """Lists the parts without parts in them. An attached message counts as one part."""
    if message.is_multipart() and message.get_content_type() != "message/rfc822":
        return [leaf for part in message.iter_parts() for leaf in list_leaves(part)]
    return [message]


def read_message(raw):
    message = parse(raw)
    return {
        "defects": list_defects(message),
        "headers": [[name.lower(), str(value)] for name, value in message.items()],
        "from": list_addresses(message, "from"),
        "to": list_addresses(message, "to"),
        "replyTo": list_addresses(message, "reply-to"),
        "types": [part.get_content_type() for part in message.walk()],
        "longestLine": max(len(line) for line in raw.split(b"\r\n")),
        "parts": [describe_part(part) for part in list_leaves(message)],
    }


json.dump([read_message(base64.b64decode(raw)) for raw in json.load(sys.stdin)], sys.stdout)
