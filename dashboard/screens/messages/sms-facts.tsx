import { AppLink } from '../../parts/app-link.tsx';
import { CopyableId, Fact, Facts } from '../../parts/facts.tsx';
import { text } from '../../text/text.ts';
import { Recipient } from './recipient.tsx';
import { RequestFact } from './request-fact.tsx';
import type { SmsResponse } from './sms-type.ts';

const words = text.messages;
const COUNTRIES = new Intl.DisplayNames(undefined, { type: 'region' });

/** Sender, recipient and origin of an SMS. */
export function SmsFacts({ sms }: { sms: SmsResponse }) {
  const { sourceType, workflowId, workflowExecutionId } = sms;
  return (
    <Facts title={words.details}>
      <Fact name={words.from}>{sms.from}</Fact>
      <Fact name={words.to}>
        <Recipient to={sms.to} contactId={sms.contactId} />
      </Fact>
      <Fact name={words.country}>{COUNTRIES.of(sms.country)}</Fact>
      {sms.mode === 'test' && <Fact name={words.mode}>{words.modes.test}</Fact>}
      <Fact name={words.source}>
        {words.sources[sourceType]}
        {workflowExecutionId && workflowId && (
          <>
            {', '}
            <AppLink to={`/messages/executions/${workflowId}/${workflowExecutionId}`}>{words.execution}</AppLink>
          </>
        )}
      </Fact>
      <RequestFact of={sms.id} {...(sourceType === 'TRANSACTIONAL' && { otherwise: words.byApi })} />
      {sms.reason && <CopyableId name={words.reasonCode} value={sms.reason} />}
      <CopyableId name={words.smsId} value={sms.id} />
      {sms.messageId && <CopyableId name={words.messageId} value={sms.messageId} />}
    </Facts>
  );
}
