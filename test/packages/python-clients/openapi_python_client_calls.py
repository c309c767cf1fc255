"""Calls the service with the client that openapi-python-client generates. Arguments: base URL, secret key."""

import sys

from tidings_client import AuthenticatedClient
from tidings_client.api.contacts import save_contact, get_contact, list_contacts
from tidings_client.api.email import get_email, list_emails, send_email
from tidings_client.api.track import track_event
from tidings_client.models import SaveContact, Error, SendEmail, TrackEvent

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True)

sent = send_email.sync(
    client=client,
    body=SendEmail(to="ada@example.com", from_="shop@shop.example.com", subject="Hello", body="<p>Hello</p>"),
)
assert sent.success is True, sent
email = get_email.sync(sent.data.emails[0].email, client=client).data
assert email.subject == "Hello" and email.status == "PENDING", email

tracked = track_event.sync(client=client, body=TrackEvent(event="signed_up", email="ada@example.com"))
assert tracked.success is True, tracked

saved = save_contact.sync(client=client, body=SaveContact(email="bob@example.com", subscribed=True))
contact = get_contact.sync(saved.id, client=client)
assert (contact.email, contact.subscribed, contact.subscription) == ("bob@example.com", True, "subscribed"), contact

first = list_contacts.sync(client=client, limit=1)
second = list_contacts.sync(client=client, limit=1, cursor=first.cursor)
assert {page.data[0].email for page in (first, second)} == {"ada@example.com", "bob@example.com"}, (first, second)
assert [one.subject for one in list_emails.sync(client=client).data] == ["Hello"]

refused = send_email.sync(client=client, body=SendEmail(to="nowhere", subject="Hello", body="<p>Hello</p>"))
assert isinstance(refused, Error) and refused.success is False, refused
print("done")
