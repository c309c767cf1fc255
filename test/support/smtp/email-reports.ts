// Complete reports, as mail servers send them to a return path.

/** A delivery status notification about one recipient, as Postfix writes it. */
export const formatDsn = (p: {
  action?: string;
  status: string;
  diagnostic?: string;
  /** The recipient that the report is about. */
  recipient?: string;
}) => `From: MAILER-DAEMON@mx.receiver.example (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not be delivered.

--b1
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.receiver.example
X-Postfix-Queue-ID: 4F2A1C0B7
Arrival-Date: Sat, 21 Nov 2026 09:00:00 +0000 (UTC)

Final-Recipient: rfc822; ${p.recipient ?? 'reader@example.com'}
Original-Recipient: rfc822;${p.recipient ?? 'reader@example.com'}
Action: ${p.action ?? 'failed'}
Status: ${p.status}
Remote-MTA: dns; mx.example.com
${p.diagnostic ? `Diagnostic-Code: ${p.diagnostic}` : 'X-None: none'}

--b1
Content-Description: Undelivered Message Headers
Content-Type: text/rfc822-headers

From: hello@shop.example.com
Subject: Hello

--b1--
`;

/** Returns an abuse report (RFC 5965) with the headers of the reported email. */
export const formatArf = (p: { type?: string; headers: string; fields?: string }) => `From: <abusedesk@example.com>
Subject: FW: Hello
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b2"

--b2
Content-Type: text/plain; charset="US-ASCII"

This is an email abuse report.

--b2
Content-Type: message/feedback-report

Feedback-Type: ${p.type ?? 'abuse'}
User-Agent: SomeGenerator/1.0
Version: 1
${p.fields ?? 'Source-IP: 192.0.2.1'}

--b2
Content-Type: message/rfc822
Content-Disposition: inline

${p.headers}
Subject: Hello

Spam spam spam

--b2--
`;

/** Returns a delivery status notification with one block for each of several recipients. */
export const formatDsnForRecipients = (blocks: string[]) => `From: MAILER-DAEMON@mx.receiver.example
Subject: Delivery status
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.receiver.example

${blocks.join('\n\n')}

--b1--
`;

/** Encodes an address for Original-Recipient (RFC 3461 §4). */
export const encodeXtext = (email: string) =>
  email.replace(/[-+=]/g, (sign) => `+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** Writes one part of a report as another type and in another transfer encoding. */
export function encodePart(
  raw: string,
  p: { from: string; type: string; encoding: '8bit' | 'base64' | 'quoted-printable' },
): string {
  const parts = raw.split(/(?=\n--)/);
  return parts.map((part) => (part.includes(`Content-Type: ${p.from}\n`) ? encodeBody(part, p) : part)).join('');
}

function encodeBody(part: string, p: { from: string; type: string; encoding: string }): string {
  const [head = '', ...rest] = part.split('\n\n');
  const bytes = Buffer.from(rest.join('\n\n'));
  const headers = head.replace(
    `Content-Type: ${p.from}`,
    `Content-Type: ${p.type}\nContent-Transfer-Encoding: ${p.encoding}`,
  );
  return `${headers}\n\n${encodeBytes(bytes, p.encoding)}`;
}

function encodeBytes(bytes: Buffer, encoding: string): string {
  if (encoding === '8bit') return bytes.toString();
  if (encoding === 'base64') return bytes.toString('base64').replace(/.{76}/g, '$&\n');
  const escapeByte = (byte: number) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return [...bytes].map((byte) => (byte > 126 || byte === 61 ? escapeByte(byte) : String.fromCharCode(byte))).join('');
}
