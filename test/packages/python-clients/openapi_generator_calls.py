"""Calls the service with the client that the OpenAPI generator's `python` makes. Arguments: base URL, secret key."""

import sys

import openapi_client
from openapi_client import SaveContact, SendEmail, SendEmailFrom, SendEmailTo, TrackEvent
from openapi_client.exceptions import ApiException

configuration = openapi_client.Configuration(host=sys.argv[1], access_token=sys.argv[2])
client = openapi_client.ApiClient(configuration)
contacts, emails = openapi_client.ContactsApi(client), openapi_client.EmailApi(client)


def email_to(address):
    sender = SendEmailFrom("shop@shop.example.com")
    return SendEmail(to=SendEmailTo(address), var_from=sender, subject="Hello", body="<p>Hello</p>")


sent = emails.send_email(email_to("ada@example.com"))
assert sent.success is True, sent
email = emails.get_email(str(sent.data.emails[0].email)).data
assert email.subject == "Hello" and email.status == "PENDING", email

tracked = openapi_client.TrackApi(client).track_event(TrackEvent(event="signed_up", email="ada@example.com"))
assert tracked.success is True, tracked

saved = contacts.save_contact(SaveContact(email="bob@example.com", subscribed=True))
contact = contacts.get_contact(str(saved.id))
assert (contact.email, contact.subscribed, contact.subscription) == ("bob@example.com", True, "subscribed"), contact

first = contacts.list_contacts(limit=1)
second = contacts.list_contacts(limit=1, cursor=first.cursor)
assert {page.data[0].email for page in (first, second)} == {"ada@example.com", "bob@example.com"}, (first, second)
assert [one.subject for one in emails.list_emails().data] == ["Hello"]

try:
    emails.send_email(email_to("nowhere"))
    raise AssertionError("an address without a domain was accepted")
except ApiException as error:
    assert error.status == 422 and error.data.success is False, error
print("done")
