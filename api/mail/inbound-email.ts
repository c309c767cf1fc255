import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Verdicts } from '../../channels/inbound/auth-verdicts.ts';
import { isMailSystem } from '../../channels/inbound/automatic-email.ts';
import type { InboundHandler, InboundListener, InboundMessage } from '../../channels/inbound/listener.ts';
import type { InboundEmail, ReadMessage } from '../../channels/inbound/read-message.ts';
import type { Db } from '../../db/connection.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { inTransaction } from '../../db/transaction.ts';
import { findEmailAddresses, listDomainOwners, recordReceivedEmail } from '../../engine/feedback/inbound-email.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import { htmlToText } from '../../rules/content/content-text.ts';
import { verifyManageToken } from '../../rules/content/link-tokens.ts';
import { escapeHtml } from '../../rules/content/plain-value.ts';
import { emailDomain, parseSender } from '../../rules/emails/email-address.ts';
import { parseVerpAddress } from '../../rules/emails/verp.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import { createFeedbackRecorder } from '../accept/feedback-recorder.ts';
import { HEADER_LINE_MAX_CHARS } from '../http/schemas.ts';

/** Maximum length of the body in `email.received`. The record of the email stores up to `RECORD_BODY_MAX_CHARS`. */
const EVENT_BODY_MAX_CHARS = 32 * 1024;
const RECORD_BODY_MAX_CHARS = 512 * 1024;
/**
 * Maximum number of HTML characters that are converted to text for an event. The text in the event has at most a
 * quarter as many characters.
 */
const HTML_MAX_CHARS = 4 * EVENT_BODY_MAX_CHARS;

interface Deps {
  config: Config;
  db: Db;
  outbox: OutboxWaker;
  log: Logger;
}

/**
 * Starts the SMTP listener for returned and inbound email on INBOUND_SMTP_PORT. If the port is not set, returns
 * undefined and does not load the parsers.
 */
export async function startInboundEmail(deps: Deps): Promise<InboundListener | undefined> {
  const { config, log } = deps;
  if (config.inboundSmtpPort === undefined) return undefined;
  const { startInboundListener } = await import('../../channels/inbound/listener.ts');
  const listener = await startInboundListener({
    host: config.host,
    port: config.inboundSmtpPort,
    name: new URL(config.publicUrl).hostname,
    tls: await readTlsFiles(config),
    handler: await createInboundHandler(deps),
    onError: (error) => log.warn({ reason: describeFailure(error) }, 'inbound mail'),
  });
  log.info({ port: listener.port }, 'the listener for returned and inbound email accepts connections');
  return listener;
}

/**
 * Creates the handler of incoming email. A delivery report arrives at the signed return path of the sent email, which
 * identifies this email. An abuse report may arrive at any accepted address. It quotes the signed return path or the
 * signed unsubscribe link of the sent email. Other email to a domain is recorded in the projects that own the domain.
 * Email to other addresses is refused. Email to a return path changes nothing unless it is a report. Source: contract
 * §9.9 Authentic feedback.
 */
export async function createInboundHandler(deps: Deps): Promise<InboundHandler> {
  const { config, db, log } = deps;
  const { UnreadableMessageError } = await import('../../channels/inbound/listener.ts');
  const { readMessage } = await import('../../channels/inbound/read-message.ts');
  const verpKey = deriveKey(config.secretKey, 'verp');
  const recordReport = createReportRecorder(deps, verpKey);
  const receive = await createReceiver(deps);

  const handler: InboundHandler = {
    async accepts(recipient) {
      if (parseVerpAddress(verpKey, recipient)) return true;
      // The address has the form of a return path, but not a valid signature of this service, so it is refused.
      if (/^bounce\+[0-9a-f]{32}/.test(recipient)) return false;
      return (await listDomainOwners(db, emailDomain(recipient))).length > 0;
    },
    async take(message) {
      const returned = message.recipients.flatMap((recipient) => parseVerpAddress(verpKey, recipient) ?? []);
      const others = message.recipients.filter((recipient) => !parseVerpAddress(verpKey, recipient));
      const receipt = { at: message.receivedAt, sender: message.from, isReturned: returned.length > 0 };
      const read = await readMessage(message.raw, receipt).catch((cause) => {
        throw new UnreadableMessageError('5.6.0 The message could not be read', { cause });
      });
      if (read.kind === 'nothing') {
        log.info({ why: read.why }, 'a returned message contains nothing to record');
        // Records the message as an email to its other recipients. Otherwise it would be lost, because the listener
        // replies with 250.
        if (returned.length > 0 && others.length > 0) await handler.take({ ...message, recipients: others });
        return;
      }
      if (read.kind === 'mail') return receive(message, others, read.mail);
      return recordReport(read, returned);
    },
  };
  return handler;
}

/**
 * Returns the function that records a delivery report or an abuse report. The function's parameter `returned` has the
 * ids of the emails to whose return paths the report was sent.
 */
function createReportRecorder({ config, db, outbox, log }: Deps, verpKey: Buffer) {
  const recordFeedback = createFeedbackRecorder({ config, db, outbox });

  /** Returns the id of the email that contains a signed unsubscribe link. Undefined for any other link. */
  function findEmailIdOfLink(link: string): string | undefined {
    const token = /\/u\/([\w-]{43})$/.exec(link)?.[1];
    const proven = token && verifyManageToken(config.secretKey, token);
    return proven && proven.kind === 'email' ? proven.id : undefined;
  }

  /**
   * Records a report for every email that it identifies. A report identifies an email if it was sent to the email's
   * return path. An abuse report also identifies an email if it quotes the return path or a signed link of the email. A
   * delivery report may list several recipients. For each email, the part about the recipient of this email is
   * recorded.
   */
  return async (read: ReadMessage & { kind: 'status' | 'complaint' }, returned: string[]): Promise<void> => {
    const quoted =
      read.kind === 'status'
        ? []
        : [
            ...read.returnPaths.flatMap((path) => parseVerpAddress(verpKey, path) ?? []),
            ...read.links.flatMap((link) => findEmailIdOfLink(link) ?? []),
          ];
    const emailIds = [...new Set([...returned, ...quoted])];
    if (emailIds.length === 0) log.info({ kind: read.kind }, 'a report names no email of this service');
    const addresses = read.kind === 'status' ? await findEmailAddresses(db, emailIds) : new Map<string, string>();
    const source = read.kind === 'complaint' ? 'arf' : 'dsn';
    for (const emailId of emailIds) {
      const report = read.kind === 'status' ? read.of(addresses.get(emailId) ?? null) : read;
      if (report.kind === 'nothing') {
        log.info({ emailId, why: report.why }, 'a returned message contains nothing to record');
        continue;
      }
      const { outcome } = await recordFeedback({ emailId, feedback: report.feedback, source });
      if (outcome === 'unknown') log.info({ emailId, source }, 'a report about an unknown email');
    }
  };
}

/** Returns the function that records an email in each project that owns the domain of one of its recipients. */
async function createReceiver({ config, db, outbox }: Deps) {
  const { UnreadableMessageError } = await import('../../channels/inbound/listener.ts');
  const { createAuthCheck, createResolver } = await import('../../channels/inbound/auth-verdicts.ts');
  const resolve = createResolver(config.dnsServers);
  const verdictsOf = createAuthCheck({ resolve, host: new URL(config.publicUrl).hostname });
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  return async (message: InboundMessage, recipients: string[], email: InboundEmail): Promise<void> => {
    const sender = parseSender(email.from ?? message.from);
    if (sender === undefined) throw new UnreadableMessageError('5.6.0 The message has no sender in From');
    const detail = toEventData(message, email, await verdictsOf(message));
    const received = {
      sender,
      fromName: toStorableText(email.fromName ?? '') || null,
      subject: toStorableText(email.subject).slice(0, HEADER_LINE_MAX_CHARS),
      html: toStorableHtml(email),
      messageId: toStorableText(email.messageId),
      digest: createHash('sha256').update(message.raw).digest(),
      files: email.attachments.map(({ filename, contentType, contentId, content }) => ({
        filename: filename && toStorableText(filename),
        contentType: toStorableText(contentType),
        contentId: contentId && toStorableText(contentId),
        content,
      })),
    };
    for (const [domain, ofDomain] of groupBy(recipients, emailDomain)) {
      const forDomain = {
        ...received,
        recipients: ofDomain,
        detail: { ...detail, to: ofDomain[0], recipients: ofDomain },
      };
      for (const projectId of await listDomainOwners(db, domain)) {
        const queued = await inTransaction(db, (trx) =>
          recordReceivedEmail(trx, { projectId, suppressionKey, email: forDomain }),
        );
        outbox.wake(queued);
      }
    }
  };
}

/** Returns the data of the event `email.received`. The service does not check for spam or viruses. */
function toEventData(message: InboundMessage, email: InboundEmail, verdicts: Verdicts): Record<string, unknown> {
  const body = toStorableText(toPlainText(email));
  return {
    from: message.from || email.from,
    fromHeader: toStorableText(email.fromHeader),
    inReplyTo: email.inReplyTo && toStorableText(email.inReplyTo),
    references: email.references.map(toStorableText),
    timestamp: message.receivedAt.toISOString(),
    autoSubmitted: email.hasAutomaticMark || isMailSystem(message.from) || isMailSystem(email.from ?? 'none'),
    hasContent: body.trim().length > 0,
    body: body.slice(0, EVENT_BODY_MAX_CHARS).toWellFormed(),
    spamVerdict: 'DISABLED',
    virusVerdict: 'DISABLED',
    spfVerdict: verdicts.spf,
    dkimVerdict: verdicts.dkim,
    dmarcVerdict: verdicts.dmarc,
    processingTimeMillis: Date.now() - message.receivedAt.getTime(),
  };
}

function toStorableHtml({ html, text }: InboundEmail): string {
  const body = html ?? `<pre>${escapeHtml(text ?? '')}</pre>`;
  return toStorableText(body).slice(0, RECORD_BODY_MAX_CHARS).toWellFormed();
}

/** Returns the text of an email. Converts the HTML if the email has no text. */
function toPlainText({ text, html }: InboundEmail): string {
  if (text?.trim() || !html) return text ?? '';
  return htmlToText(html.slice(0, HTML_MAX_CHARS));
}

/** Returns text that Postgres can store, in the normalization that filters compare (contract §1.16 Unicode). */
function toStorableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed().normalize('NFC');
}

async function readTlsFiles({ tls }: Config): Promise<{ cert: string; key: string } | undefined> {
  if (!tls.certFile || !tls.keyFile) return undefined;
  return { cert: await readFile(tls.certFile, 'utf8'), key: await readFile(tls.keyFile, 'utf8') };
}
