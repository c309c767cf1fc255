// Creates reports that other mail servers send to the service by SMTP. The text of a report has CRLF line ends.

export interface DeliveryNotice {
  /** The recipient of the reported email. */
  readonly to: string;
  readonly action: 'failed' | 'delayed' | 'delivered';
  /** An enhanced status code (RFC 3463), such as 5.1.1 for an unknown mailbox. */
  readonly status: string;
  /** The server's reply as text. */
  readonly diagnostic: string;
}

/** Returns a delivery status notification (RFC 3464) in the form of Postfix. */
export function buildDeliveryNotice({ to, action, status, diagnostic }: DeliveryNotice): string {
  return toCrlf(`From: MAILER-DAEMON@mx.receiver.example (Mail Delivery System)
Subject: ${action === 'delivered' ? 'Successful Mail Delivery Report' : 'Undelivered Mail Returned to Sender'}
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="status"

--status
Content-Type: text/plain; charset=us-ascii

This is the mail system at host mx.receiver.example.

--status
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.receiver.example
Arrival-Date: ${new Date().toUTCString()}

Final-Recipient: rfc822; ${to}
Action: ${action}
Status: ${status}
Remote-MTA: dns; mx.receiver.example
Diagnostic-Code: smtp; ${diagnostic}

--status--
`);
}

/** Returns an abuse report (RFC 5965) about an email. It contains the whole email, with its return path. */
export function buildAbuseReport({ to, returnPath, raw }: { to: string; returnPath: string; raw: string }): string {
  return toCrlf(`From: <feedback@isp.example>
Subject: FW: an unwanted mail
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="abuse"

--abuse
Content-Type: text/plain; charset=us-ascii

This is an email abuse report for a message received from your network.

--abuse
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: ExampleFeedbackLoop/1.0
Version: 1
Original-Mail-From: <${returnPath}>
Original-Rcpt-To: <${to}>
Arrival-Date: ${new Date().toUTCString()}

--abuse
Content-Type: message/rfc822
Content-Disposition: inline

Return-Path: <${returnPath}>
${raw}
--abuse--
`);
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}
