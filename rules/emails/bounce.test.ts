import { describe, expect, it } from 'vitest';
import { type BounceClass, type BounceStage, classifyReply, judgeAgain, parseDiagnostic } from './bounce.ts';

/** Replies as servers send them, at RCPT unless another stage stands before them; addresses are made up. */
const REPLIES: Record<BounceClass, string[]> = {
  dead_mailbox: [
    // Gmail
    "550-5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. Learn more at https://support.google.com/mail/?p=NoSuchUser a1si123 - gsmtp",
    '550-5.2.1 The email account that you tried to reach is disabled. Learn more at https://support.google.com/mail/?p=DisabledUser - gsmtp',
    '550 5.2.1 The email account that you tried to reach is inactive. - gsmtp',
    '550 5.1.1 <ann@gmail.com> User unknown',
    // Outlook, Exchange Online, Exchange
    '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [BN8NAM11FT056.eop-nam11.prod.protection.outlook.com]',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ann@contoso.com not found by SMTP address lookup',
    '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found',
    '550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found',
    '550 5.4.1 Recipient address rejected: Access denied. For more information see https://aka.ms/EXOSmtpErrors [AM0EUR02FT025.eop-EUR02.prod.protection.outlook.com]',
    '550 5.4.1 [ann@contoso.com]: Recipient address rejected: Access denied',
    '550 5.1.1 User unknown',
    '550 5.1.1 The recipient does not exist',
    '550 5.1.351 Remote server returned unknown recipient or mailbox unavailable',
    '550 5.2.1 Mailbox cannot be accessed',
    // Yahoo, AOL
    "554 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.com) [0] - mta1234.mail.bf1.yahoo.com",
    '554 delivery error: dd Sorry your message to ann@yahoo.com cannot be delivered. This account has been disabled or discontinued [#102]. - mta1.yahoo.com',
    '552 1 Requested mail action aborted, mailbox not found',
    '554 30 Sorry, your message to ann@aol.com cannot be delivered. This mailbox is disabled (554.30).',
    '550 5.1.1 <ann@aol.com>: Recipient address rejected: aol.com',
    // Yandex, mail.ru, Rambler
    '550 5.7.1 No such user!',
    '550 5.7.1 No such user',
    '550 Message was not accepted -- invalid mailbox.  Local mailbox ann@mail.ru is unavailable: user not found',
    '550 Message was not accepted -- invalid mailbox.  Local mailbox ann@mail.ru is unavailable: account is disabled',
    '550 5.1.1 ann@rambler.ru: Recipient address rejected: User unknown in virtual mailbox table',
    '550 5.2.1 Mailbox unavailable: user terminated',
    // iCloud, Comcast, AT&T, Cox, Charter
    '550 5.1.1 <ann@icloud.com>: user does not exist',
    '550 5.1.6 recipient no longer on server: ann@mac.com',
    '550 5.1.1 Not our Customer',
    '550 5.1.1 <ann@comcast.net> Account not available',
    '550 5.1.1 <ann@cox.net> recipient rejected. See https://www.cox.com/email-error-codes',
    '551 not our user',
    '550 5.2.1 <ann@att.net>... Addressee unknown, relay=[192.0.2.1]',
    // GMX, web.de, T-Online, Freenet, Orange, Free, La Poste, Libero, Aruba, Seznam, WP, Onet
    '550 Requested action not taken: mailbox unavailable',
    '550-Requested action not taken: mailbox unavailable For explanation visit https://postmaster.gmx.net/en/error-messages?ip=192.0.2.1&c=nomailbox',
    '550 user unknown',
    '550-5.1.1 [R1] Recipient ann@t-online.de does not exist here.',
    '550 5.1.1 <ann@freenet.de>: Recipient address rejected: unknown user',
    '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR204_418 [418]',
    '550 5.1.1 <ann@free.fr>: Recipient address rejected: User unknown in relay recipient table',
    '550 5.5.0 Mailbox unavailable',
    '550 5.1.1 <ann@libero.it> recipient unknown',
    '550 5.1.1 <ann@aruba.it> User unknown; rejecting',
    '550 5.1.1 Sorry, no mailbox here by that name (recipient ann@seznam.cz)',
    '550 5.1.1 <ann@wp.pl> User unknown (wp.pl)',
    '550 User unknown.',
    // QQ, 163, Naver, Daum, docomo, Rediff, Zoho, ProtonMail, Fastmail, Tutanota
    '550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?subtype=1&&no=1000728',
    '550 The recipient may contain a non-existent account, please check the recipient address.',
    '550 User not found: ann@163.com',
    '550 MI:UNKNOWN Invalid user: ann@126.com',
    '550 5.1.1 No such user ann - nsmtp',
    '550 5.1.1 recipient is not exist - dsmtp',
    '550 Unknown user ann@docomo.ne.jp',
    '550 5.1.1 <ann@rediffmail.com>: Recipient address rejected: Account inactive or does not exist.',
    '553 5.1.1 Invalid email recipients',
    '550 5.1.1 <ann@proton.me>: Recipient address rejected: Address does not exist',
    '550 5.1.1 <ann@fastmail.com>: Recipient address rejected: User unknown in local recipient table',
    // Postfix, Exim, qmail, Sendmail, Courier, Domino, Zimbra, hMailServer, MDaemon, Dovecot, Kerio, OpenSMTPD,
    // Mimecast
    '550 5.1.1 <ann@example.org>: Recipient address rejected: User unknown in local recipient table',
    '550 5.1.1 <ann@example.org>: Recipient address rejected: User unknown in virtual alias table',
    '550 5.1.0 <ann@example.org>: Recipient address rejected: User unknown in virtual mailbox table',
    '550 <ann@example.org>: Recipient address rejected: User unknown in relay recipient table',
    '550 5.1.1 <ann@example.org>: Recipient address rejected: undeliverable address: host mx.example.org[192.0.2.1] said: 550 5.1.1 User unknown (in reply to RCPT TO command)',
    '556 5.1.10 <ann@example.org>: Recipient address rejected: Domain example.org does not accept mail (nullMX)',
    '550 Unrouteable address',
    '550 unknown user',
    '550 No Such User Here',
    '550 No such recipient here',
    '550 sorry, no mailbox here by that name (#5.1.1 - chkuser)',
    '553 sorry, this recipient is not in my validrcptto list (#5.7.1) - user does not exist',
    '511 sorry, no mailbox here by that name (#5.1.1 - chkuser)',
    '550 5.1.1 <ann@example.org>... User unknown',
    '550 ann@example.org... No such user',
    '550 5.1.1 User unknown: ann',
    '550 ann@example.org ... No such user',
    '550 5.1.1 ann@example.org User does not exist',
    '550 Unknown user',
    '550 <ann@example.org>, Recipient unknown',
    "550 5.1.1 <ann@example.org> User doesn't exist: ann@example.org",
    '550 5.1.1 Mailbox unavailable',
    '550 Invalid recipient: <ann@example.org>',
    '550 5.1.1 Recipient not found. <ann@example.org>',
    '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abc.uk12]',
    '550 #5.1.0 Address rejected.',
    '550 5.1.2 <ann@example.invalid>: Recipient address rejected: Domain not found',
    '553 5.3.0 <ann@example.org>... No such user here',
    '550 Account suspended: mailbox has been deactivated',
    '550 5.1.6 The recipient has moved and left no address',
    '551 5.1.6 Recipient no longer available at this address',
    '550 5.1.3 Bad destination mailbox address syntax',
    '550 ann@example.org is no longer with us',
    '550 5.1.1 unknown or illegal alias: ann@example.org',
    '550 Mailbox is unavailable',
    '550 5.1.1 spam@example.org no such mailbox',
    '554 5.7.1 <ann@example.org>: Recipient address rejected: user ann@example.org does not exist',
    '550 This address no longer accepts mail.',
    '554 Recipient rejected: Invalid recipient',
    // No words at all
    '550',
    '550 <ann@example.org>',
    '553',
    // After the message
    'message: 550 5.1.1 User unknown',
    'message: 554 5.1.1 <ann@example.org>: no such user',
    // Notifications
    'dsn: smtp; 550 5.1.1 <ann@example.org>: Recipient address rejected: User unknown',
    'dsn: 5.1.1',
    'dsn: 5.1.2',
    'dsn: smtp; 550-5.1.1 The email account that you tried to reach does not exist.',
  ],
  mailbox_for_now: [
    '452-4.2.2 The email account that you tried to reach is over quota. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaTemp - gsmtp',
    '552-5.2.2 The email account that you tried to reach is over quota. - gsmtp',
    '450-4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. - gsmtp',
    '552 5.2.2 Mailbox size limit exceeded',
    '554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message',
    '552 5.2.2 <ann@icloud.com>: user is over quota',
    '552 1 Requested mail action aborted, exceeded storage allocation: mailbox full',
    '550 5.1.1 <ann@example.org>: mailbox full',
    '552 <ann@example.org> Mailbox quota exceeded',
    '550 5.7.1 Quota exceeded (mailbox for user is full)',
    '552 RCPT TO:<ann@example.org> Mailbox disk quota exceeded',
    '554 Message to <ann@example.org> failed: user over quota',
    '452 4.3.1 Insufficient system storage',
    '552 5.2.2 Over quota',
    '450 4.1.1 <ann@example.org>: Recipient address rejected: User unknown in local recipient table',
    '450 4.7.1 <ann@example.org>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.org.html',
    '451 4.7.1 Greylisting in action, please come back later',
    '451 Temporary local problem - please try later',
    '450 4.7.1 Client host rejected: cannot find your reverse hostname, [192.0.2.1]',
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes',
    '421-4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address. - gsmtp',
    '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77719)',
    '451 4.7.651 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation.',
    '450 4.2.0 <ann@example.org>: Recipient address rejected: Greylisted for 300 seconds',
    '452 4.5.3 Too many recipients',
    '454 4.7.0 Temporary authentication failure',
    '451 4.4.0 Temporary server error. Please try again later ATTR5',
    '432 4.3.2 STOREDRV.Deliver; recipient thread limit exceeded',
    '450 4.4.1 Connection timed out',
    '451 4.3.0 Mail server temporarily rejected message.',
    '550 Greylisted, please try again in 180 seconds',
    '450 Requested mail action not taken: mailbox unavailable',
    '451',
    'mail: 451 4.7.1 Sender throttled',
    'message: 451 4.3.0 Error: queue file write error',
    'message: 450 4.7.26 This mail has been rate limited because it is unauthenticated. - gsmtp',
    'dsn: smtp; 552 5.2.2 Mailbox full',
    'dsn: 4.2.2',
    'dsn: smtp; 451 4.7.1 Greylisted',
  ],
  policy: [
    // Gmail
    "550-5.7.1 [192.0.2.1] The IP you're using to send mail is not authorized to send email directly to our servers. Please use the SMTP relay at your service provider instead. - gsmtp",
    'message: 550-5.7.1 [192.0.2.1 12] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked. - gsmtp',
    'message: 550-5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM. - gsmtp',
    "message: 550-5.7.26 Unauthenticated email from example.com is not accepted due to domain's DMARC policy. - gsmtp",
    'message: 550-5.7.25 The IP address sending this message does not have a PTR record setup. - gsmtp',
    'message: 550-5.7.1 [192.0.2.1] Messages with very low reputation of the sending domain. - gsmtp',
    // Outlook
    "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140).",
    'message: 550 5.7.515 Access denied, sending domain example.com does not meet the required authentication level.',
    '550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/',
    '550 5.7.511 Access denied, banned sender[192.0.2.1]. To request removal from this list please forward this message to delist@messaging.microsoft.com.',
    'message: 550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification and has a DMARC policy of reject.',
    'message: 554 5.2.0 STOREDRV.Submission: SendAsDenied; send as denied',
    '550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP.',
    'message: 550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy',
    '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required',
    // Yahoo, AOL, AT&T, Comcast, Cox
    "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html",
    'message: 554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
    '521 5.2.1 : (DYN:T1) AOL will not accept delivery of this message: blocked',
    '550 flph829 Error - Blocked for abuse. See http://att.net/blocks',
    '554 resimta-po-12v.sys.comcast.net comcast 192.0.2.1 found on one or more DNSBLs, see http://postmaster.comcast.net/smtp-error-codes.php#BL000001',
    '550 5.7.1 Your message was rejected due to the poor reputation of the sending IP',
    // GMX, web.de, T-Online, Orange, La Poste, mail.ru, Yandex, QQ, 163
    'message: 554-Transaction failed Reject due to policy restrictions. For explanation visit https://postmaster.gmx.net/en/case?c=hi&i=ip&v=192.0.2.1',
    '550-Requested action not taken: mailbox unavailable Reject due to policy restrictions.',
    '554 IP=192.0.2.1 - A problem occurred. Ask your postmaster for help or to contact tosa@rx.t-online.de to clarify. (BL)',
    '550 5.2.0 Mail rejete. Mail rejected. OFR_506 [506] spam content',
    'message: 550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=abc or report details to abuse@corp.mail.ru.',
    'message: 554 5.7.1 [2] Message rejected under suspicion of SPAM; https://ya.cc/1IrBc 1234567890-abc',
    '550 Mail content denied. http://service.mail.qq.com/detail/0/80 spam',
    '550 Ip frequency limited [abc IP: 192.0.2.1]. blacklist http://service.mail.qq.com',
    'message: 554 DT:SPM 163 mx1,abc,spam http://mail.163.com/help/help_spam_16.htm',
    // Postfix, Exim, Sendmail, gateways
    '550 The IP address 192.0.2.1 is not registered with this server',
    '550 5.7.1 Your IP address does not exist in our list of known senders',
    '550 5.7.1 Email from your host is no longer accepted: listed by Spamhaus, account suspended',
    '550 5.7.1 SPF check failed: user bounce is not known to be allowed',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1',
    '554 5.7.1 <ann@example.org>: Relay access denied',
    '550 relay not permitted',
    '550 5.7.1 Unable to relay',
    '550 5.7.1 <ann@example.org>... Relaying denied',
    '550 5.7.1 Unable to relay for ann@example.org',
    '550-Verification failed for <bounce@example.com> 550 Sender verify failed',
    '550 Sender verify failed: No such user',
    '550 5.1.8 <bounce@example.com>: Sender address rejected: Domain not found',
    '553 5.1.8 <bounce@example.com>... Domain of sender address bounce@example.com does not exist',
    '550 5.7.1 <bounce@example.com>: Sender address rejected: undeliverable address',
    '550 5.7.23 <ann@example.org>: Recipient address rejected: Message rejected due to: SPF fail - not authorized',
    '550 5.7.1 Client host rejected: cannot find your reverse hostname',
    '504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname',
    '503 5.5.1 Error: nested MAIL command',
    '502 5.5.2 Error: command not recognized',
    'message: 550 5.7.1 Message rejected due to content filter: this looks like spam',
    'message: 554 5.7.1 Blocked by SpamAssassin',
    'message: 550 High probability of spam',
    "554 Your access to this mail system has been rejected due to the sending MTA's poor reputation.",
    '550 5.7.0 Local Policy Violation - https://community.mimecast.com/docs/DOC-1369#550',
    '550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550',
    '554 5.7.1 Access denied',
    '550 5.7.1 Command rejected',
    '530 5.7.1 Client was not authenticated',
    'mail: 550 5.7.1 Rejected',
    'mail: 550 Unknown user',
    'mail: 553 5.7.1 Sender address rejected: not owned by user',
    'mail: 554 5.7.1 Email address is not verified',
    'data: 554 5.5.1 Error: no valid recipients',
    'dsn: smtp; 550 5.7.1 Message rejected as spam',
    'dsn: 5.7.1',
  ],
  message: [
    "message: 552-5.2.3 Your message exceeded Google's message size limits. Please visit https://support.google.com/mail/?p=MaxSizeError - gsmtp",
    'message: 552-5.7.0 This message was blocked because its content presents a potential security issue. Please visit https://support.google.com/mail/?p=BlockedMessage - gsmtp',
    'message: 550-5.7.1 [192.0.2.1] Messages missing a valid address in From: header, or having no From: header, are not accepted. - gsmtp',
    'message: 550-5.7.1 Our system has detected that this message is not RFC 5322 compliant: duplicate headers. - gsmtp',
    'mail: 552 5.3.4 Message size exceeds fixed limit',
    'mail: 552 5.3.4 Error: message file too big',
    'mail: 552 Message size exceeds maximum permitted',
    'message: 552 5.3.4 Message size exceeds file system imposed limit',
    'message: 554 5.6.0 Invalid message content',
    // Amavis: the status says that it is the content, whatever generic words stand beside it.
    'message: 554 5.6.0 Reject, id=1234-05 - BANNED: application/x-dosexec,.exe,invoice.exe',
    'message: 550 5.6.0 Message blocked by policy',
    'dsn: smtp; 554 5.6.0 id=1234-05 - BANNED: multipart/mixed | application/zip',
    'message: 554 5.6.1 Body type not supported by Remote Host',
    'message: 554 5.6.3 Conversion required but not supported',
    '553 5.6.7 The server does not take non-ASCII addresses',
    'message: 554 5.7.1 Message contains a virus: Eicar-Test-Signature',
    'message: 550 5.7.1 Your email was rejected because it contains the Sanesecurity malware',
    'message: 552 5.7.0 Attachment type .exe is not allowed',
    'message: 550 5.6.11 SMTPSEND.BareLinefeedsAreIllegal; bare LF',
    'message: 550 maximum allowed line length is 998 octets, got 1204: line too long',
    'message: 554 5.4.6 Too many hops',
    '5.3.4',
    'dsn: smtp; 552 5.3.4 Message too large',
    'dsn: 5.6.0',
  ],
  routing: [
    '550 5.4.4 Host not found',
    '554 5.4.6 Routing loop detected',
    '554 5.4.14 Hop count exceeded - possible mail loop ATTR34',
    '550 5.4.312 DNS query failed',
    '550 5.3.0 Something is wrong',
    '554 5.3.5 System incorrectly configured',
    'dsn: 4.4.7',
    'dsn: smtp; 451 4.4.1 No answer from host',
    'dsn: 5.4.4',
    'dsn: 5.4.7',
  ],
  session: [
    'connect: 554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    'connect: 421 Too many connections',
    'ehlo: 550 Access denied',
    'starttls: 454 TLS not available due to temporary reason',
    'auth: 535 5.7.8 Error: authentication failed',
  ],
  unknown: [
    '550 5.1.0 Something else about the address',
    '550 I would rather not',
    '554 Transaction failed',
    '550 5.0.0 It did not work out',
    'message: 554 Delivery failed',
    'message: 550',
    'dsn: 5.0.0',
    'dsn: smtp; 554 It did not work out',
  ],
};

function read(line: string) {
  const stage = /^(\w+): /.exec(line)?.[1] as BounceStage | undefined;
  return { ...parseDiagnostic(stage ? line.slice(stage.length + 2) : line), stage: stage ?? ('rcpt' as const) };
}

describe('what a refusal means', () => {
  it('is held to at least 150 replies', () => {
    expect(Object.values(REPLIES).flat().length).toBeGreaterThanOrEqual(150);
  });

  for (const [expected, lines] of Object.entries(REPLIES)) {
    it.each(lines)(`${expected}: %s`, (line) => {
      expect(classifyReply(read(line)).class).toBe(expected);
    });
  }
});

describe('what follows from it', () => {
  const verdict = (line: string) => classifyReply(read(line));

  it('a dead mailbox is suppressed and unsubscribed, and not tried again', () => {
    expect(verdict('550 5.1.1 User unknown')).toEqual({
      class: 'dead_mailbox',
      bounceType: 'Permanent',
      status: 'BOUNCED',
      retry: false,
      suppress: true,
      unsubscribe: true,
      final: true,
      deadIfAgain: false,
    });
  });

  it('a full mailbox is tried again and costs nobody their subscription', () => {
    const full = verdict('552 5.2.2 Mailbox full');
    expect(full).toMatchObject({
      bounceType: 'Transient',
      retry: true,
      final: false,
      suppress: false,
      unsubscribe: false,
    });
  });

  it("the sender's fault bounces the email without unsubscribing anyone", () => {
    const policy = verdict('554 5.7.1 blocked using zen.spamhaus.org');
    expect(policy).toMatchObject({
      bounceType: 'Permanent',
      status: 'BOUNCED',
      retry: false,
      suppress: false,
      unsubscribe: false,
    });
  });

  it("the message's fault fails the email", () => {
    expect(verdict('message: 552 5.3.4 Message too big')).toMatchObject({
      status: 'FAILED',
      retry: false,
      suppress: false,
    });
  });

  it('unknown words are Transient the first time and a dead mailbox on the second day', () => {
    const unknown = verdict('550 I would rather not');
    const now = new Date('2026-03-02T01:00:00Z');
    expect(unknown).toMatchObject({ bounceType: 'Transient', retry: false, final: true, suppress: false });
    expect(judgeAgain(unknown, null, now)).toBe(unknown);
    expect(judgeAgain(unknown, new Date('2026-03-02T00:10:00Z'), now)).toBe(unknown);
    expect(judgeAgain(unknown, new Date('2026-03-01T23:00:00Z'), now)).toMatchObject({
      class: 'dead_mailbox',
      suppress: true,
    });
  });

  it('a full mailbox on two days stays alive', () => {
    const full = verdict('dsn: 4.2.2');
    expect(judgeAgain(full, new Date('2026-03-01T00:00:00Z'), new Date('2026-03-02T00:00:00Z'))).toBe(full);
  });

  it('a notification is never tried again: another server has given up', () => {
    expect(verdict('dsn: 4.2.2')).toMatchObject({
      bounceType: 'Transient',
      retry: false,
      final: true,
      suppress: false,
    });
  });

  it('a hostile text of a megabyte is judged in no time', () => {
    const startedAt = performance.now();
    for (const word of ['header ', 'user ', 'message ', '<', 'a@', ' ', 'mailbox.']) {
      classifyReply({ code: 550, enhanced: null, text: word.repeat(150_000), stage: 'dsn' });
    }
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  it('a refused session says nothing about the recipient', () => {
    expect(verdict('auth: 535 5.7.8 Bad credentials')).toMatchObject({
      retry: true,
      suppress: false,
      bounceType: 'Transient',
    });
  });
});

describe('parseDiagnostic', () => {
  it.each([
    ['550 5.1.1 No', { code: 550, enhanced: '5.1.1', text: 'No' }],
    ['550-5.1.1 No', { code: 550, enhanced: '5.1.1', text: 'No' }],
    ['smtp; 550 No', { code: 550, enhanced: null, text: 'No' }],
    ['5.1.1', { code: null, enhanced: '5.1.1', text: '' }],
    ['550', { code: 550, enhanced: null, text: '' }],
    ['550 #5.1.0 Address rejected.', { code: 550, enhanced: '5.1.0', text: 'Address rejected.' }],
    ['X-Postfix; unknown user', { code: null, enhanced: null, text: 'X-Postfix; unknown user' }],
  ])('%s', (line, parts) => {
    expect(parseDiagnostic(line)).toEqual(parts);
  });
});
