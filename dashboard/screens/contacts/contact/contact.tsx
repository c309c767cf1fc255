import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { queryFor } from '../../../api/queries.ts';
import { findContactName } from '../../../parts/contact-name.ts';
import { ExactTime } from '../../../parts/instant.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import classes from './contact.module.css';
import { ContactActions } from './contact-actions.tsx';
import { ContactData } from './contact-data.tsx';
import { ContactExecutions } from './contact-executions.tsx';
import { ContactSegments } from './contact-segments.tsx';
import { ContactSubscription } from './contact-subscription.tsx';
import { ContactTimeline } from './contact-timeline.tsx';
import { ContactTopics } from './contact-topics.tsx';
import type { Contact } from './contact-type.ts';

const words = text.contacts.page;

/** One contact: events with their reasons, data, subscriptions and memberships. */
export function ContactScreen() {
  const { contactId } = useParams({ from: '/shell/contacts/$contactId' });
  const contact = useQuery(queryFor('getContact', { params: { id: contactId } }));
  return (
    <>
      {!contact.data && <PageHead title={text.subjects.contact} back={{ to: '/contacts', label: words.back }} />}
      <QueryView of={contact}>{(loaded) => <Page key={loaded.id} contact={loaded} />}</QueryView>
    </>
  );
}

function Page({ contact }: { contact: Contact }) {
  const { id, email, subscription, createdAt, updatedAt } = contact;
  return (
    <>
      <PageHead
        title={findContactName(contact.data) ?? email}
        back={{ to: '/contacts', label: words.back }}
        status={<WordBadge kind="subscription" value={subscription} />}
        subtitle={
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {findContactName(contact.data) !== undefined && `${email} · `}
            {words.since} <ExactTime at={createdAt} />, {words.changed} <ExactTime at={updatedAt} />
          </Text>
        }
        actions={<ContactActions contact={contact} />}
      />
      <div className={classes.columns}>
        <ContactData contact={contact} />
        <Stack className={classes.aside}>
          <ContactSubscription contact={contact} />
          <ContactExecutions contactId={id} />
          <ContactSegments contactId={id} />
          <ContactTopics contact={contact} />
        </Stack>
        <ContactTimeline contactId={id} />
      </div>
    </>
  );
}
