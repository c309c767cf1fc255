import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { queryFor } from '../../../api/queries.ts';
import { findContactName } from '../../../parts/contact-name.ts';
import { GrayCard } from '../../../parts/gray-parts.tsx';
import { ExactTime } from '../../../parts/instant.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { RecordQuery } from '../../../parts/record-query.tsx';
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
const BACK = { to: '/contacts', label: words.back };
/** The lines of the placeholder in each card beside the contact's data. */
const ASIDE_LINES = [4, 3, 2, 2];

/** One contact: events with their reasons, data, subscriptions and memberships. */
export function ContactScreen() {
  const { contactId } = useParams({ from: '/shell/contacts/$contactId' });
  const contact = useQuery(queryFor('getContact', { params: { id: contactId } }));
  return (
    <RecordQuery of={contact} title={text.subjects.contact} back={BACK} pending={<GrayContact />}>
      {(loaded) => <Page key={loaded.id} contact={loaded} />}
    </RecordQuery>
  );
}

function GrayContact() {
  return (
    <div className={classes.columns}>
      <GrayCard lines={8} gap={18} />
      <Stack gap="lg" className={classes.aside}>
        {ASIDE_LINES.map((lines, card) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the cards do not change
          <GrayCard key={card} lines={lines} />
        ))}
      </Stack>
      <GrayCard lines={6} gap={26} />
    </div>
  );
}

function Page({ contact }: { contact: Contact }) {
  const { id, email, subscription, createdAt, updatedAt } = contact;
  return (
    <>
      <PageHead
        title={findContactName(contact.data) ?? email}
        back={BACK}
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
        <Stack gap="lg" className={classes.aside}>
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
