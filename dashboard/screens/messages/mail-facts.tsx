import { Anchor, Code, Group, Text } from '@mantine/core';
import { urlOf } from '../../api/client.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { Instant } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import { Fact, Facts } from './facts.tsx';
import type { Mail } from './mail-type.ts';
import { RequestFact } from './request-fact.tsx';

const INSTANTS = [
  ...(['createdAt', 'sentAt', 'deliveredAt', 'openedAt', 'clickedAt'] as const),
  ...(['bouncedAt', 'complainedAt'] as const),
];

/** Result, provider response and origin of an email. */
export function MailFacts({ mail }: { mail: Mail }) {
  return (
    <>
      <Story mail={mail} />
      <Provider mail={mail} />
      <Cause mail={mail} />
      <Files mail={mail} />
    </>
  );
}

function Story({ mail }: { mail: Mail }) {
  const { opens, clicks, machineOpens, machineClicks } = mail;
  return (
    <Facts title={text.messages.story}>
      {INSTANTS.filter((instant) => mail[instant] !== null).map((instant) => (
        <Fact key={instant} name={text.messages.instants[instant]}>
          <Instant at={mail[instant]} />
        </Fact>
      ))}
      {opens + machineOpens > 0 && (
        <Text size="sm">{text.messages.opens(formatCount(opens), formatCount(machineOpens))}</Text>
      )}
      {clicks + machineClicks > 0 && (
        <Text size="sm">{text.messages.clicks(formatCount(clicks), formatCount(machineClicks))}</Text>
      )}
    </Facts>
  );
}

function Provider({ mail: { error, sentAt, attempts, messageId, bounceType } }: { mail: Mail }) {
  return (
    <Facts title={text.messages.provider}>
      {error ? (
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {error}
        </Code>
      ) : (
        <Text size="sm">{sentAt ? text.messages.took : text.messages.noAnswer}</Text>
      )}
      {attempts > 1 && <Text size="sm">{text.messages.attempts(formatCount(attempts))}</Text>}
      {bounceType && <Text size="sm">{text.messages.bounceTypes[bounceType]}</Text>}
      {messageId && (
        <Fact name={text.messages.messageId}>
          <Group gap={4} wrap="nowrap" justify="flex-end">
            <span>{messageId}</span>
            <CopyButton value={messageId} />
          </Group>
        </Fact>
      )}
    </Facts>
  );
}

/** Sources of emails that a request can cause, directly or through an execution. */
const BY_REQUEST: readonly Mail['sourceType'][] = ['TRANSACTIONAL', 'WORKFLOW'];

function Cause({ mail }: { mail: Mail }) {
  const { sourceType, contactId, campaignId, templateId, workflowId, workflowExecutionId, resentFrom } = mail;
  const byApi = sourceType === 'TRANSACTIONAL' && !resentFrom && text.messages.byApi;
  return (
    <Facts title={text.messages.cause}>
      <Fact name={text.messages.source}>{text.messages.sources[sourceType]}</Fact>
      <Fact name={text.messages.from}>{mail.fromName ? `${mail.fromName} <${mail.from}>` : mail.from}</Fact>
      {mail.replyTo && <Fact name={text.messages.replyTo}>{mail.replyTo}</Fact>}
      {mail.mode === 'test' && <Fact name={text.messages.mode}>{text.messages.modes.test}</Fact>}
      {contactId && (
        <Fact name={text.messages.contact}>
          <AppLink to={`/contacts/${contactId}`}>{mail.to ?? contactId}</AppLink>
        </Fact>
      )}
      <Text size="sm" component="div">
        {campaignId && <AppLink to={`/campaigns/${campaignId}`}>{text.messages.campaign}</AppLink>}
        {workflowExecutionId && workflowId && (
          <AppLink to={`/messages/executions/${workflowId}/${workflowExecutionId}`}>{text.messages.execution}</AppLink>
        )}
        {resentFrom && <AppLink to={`/messages/${resentFrom}`}>{text.messages.repeats}</AppLink>}
      </Text>
      {BY_REQUEST.includes(sourceType) && <RequestFact of={mail.id} {...(byApi && { otherwise: byApi })} />}
      {templateId && (
        <Text size="sm" component="div">
          <AppLink to={`/templates/${templateId}`}>{text.messages.template}</AppLink>
        </Text>
      )}
    </Facts>
  );
}

function Files({ mail: { id: emailId, attachments } }: { mail: Mail }) {
  if (attachments.length === 0) return null;
  return (
    <Facts title={text.messages.attachments}>
      {attachments.map(({ id, name, type, size }) => (
        <Fact key={id ?? name} name={name}>
          {type}, {text.messages.bytes(formatCount(size))}
          {id !== null && (
            <>
              {' · '}
              <Anchor
                href={urlOf('getEmailAttachment', { params: { id: emailId, attachmentId: id } })}
                download={name}
                size="sm"
              >
                {text.messages.download}
              </Anchor>
            </>
          )}
        </Fact>
      ))}
    </Facts>
  );
}
