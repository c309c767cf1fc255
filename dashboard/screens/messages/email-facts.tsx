import { Anchor } from '@mantine/core';
import { getOperationUrl } from '../../api/client.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Breakable } from '../../parts/breakable.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { CopyableId, Fact, Facts } from '../../parts/facts.tsx';
import { text } from '../../text/text.ts';
import type { Email } from './email-type.ts';
import { RequestFact } from './request-fact.tsx';

/** Sender, recipient, origin and files of an email. */
export function EmailFacts({ email }: { email: Email }) {
  return (
    <>
      <Details email={email} />
      <Files email={email} />
    </>
  );
}

/** Sources of emails that a request can cause, directly or through an execution. */
const BY_REQUEST: readonly Email['sourceType'][] = ['TRANSACTIONAL', 'WORKFLOW'];

function Details({ email }: { email: Email }) {
  const { sourceType, campaignId, templateId, workflowId, workflowExecutionId, resentFrom } = email;
  const byApi = sourceType === 'TRANSACTIONAL' && !resentFrom && text.messages.byApi;
  return (
    <Facts title={text.messages.details}>
      <Fact name={text.messages.from}>{email.fromName ? `${email.fromName} <${email.from}>` : email.from}</Fact>
      <Fact name={text.messages.to}>
        <Breakable text={email.to ?? text.messages.erased} />
      </Fact>
      {email.replyTo && <Fact name={text.messages.replyTo}>{email.replyTo}</Fact>}
      {email.mode === 'test' && <Fact name={text.messages.mode}>{text.messages.modes.test}</Fact>}
      <Fact name={text.messages.source}>
        {text.messages.sources[sourceType]}
        <Link to={campaignId && `/campaigns/${campaignId}`}>{text.messages.campaign}</Link>
        <Link to={workflowExecutionId && workflowId && `/messages/executions/${workflowId}/${workflowExecutionId}`}>
          {text.messages.execution}
        </Link>
        <Link to={resentFrom && `/messages/${resentFrom}`}>{text.messages.repeats}</Link>
      </Fact>
      {BY_REQUEST.includes(sourceType) && <RequestFact of={email.id} {...(byApi && { otherwise: byApi })} />}
      {templateId && (
        <Fact name={text.messages.templateName}>
          <AppLink to={`/templates/${templateId}`}>{text.messages.template}</AppLink>
        </Fact>
      )}
      {email.reason && <CopyableId name={text.messages.reasonCode} value={email.reason} />}
      <CopyableId name={text.messages.emailId} value={email.id} />
      {email.messageId && <CopyableId name={text.messages.messageId} value={email.messageId} />}
    </Facts>
  );
}

/** A link after the text of a fact. Renders nothing if the record has no such origin. */
function Link({ to, children }: { to: string | null; children: string }) {
  if (!to) return null;
  return (
    <>
      {', '}
      <AppLink to={to}>{children}</AppLink>
    </>
  );
}

function Files({ email: { id: emailId, attachments } }: { email: Email }) {
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
                href={getOperationUrl('getEmailAttachment', { params: { id: emailId, attachmentId: id } })}
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
