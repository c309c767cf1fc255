import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TwilioRequest {
  path: string;
  authorization: string | undefined;
  contentType: string | undefined;
  params: Record<string, string>;
}

/** A loopback server that responds to message requests like Twilio's API. */
export interface FakeTwilio {
  readonly url: string;
  readonly requests: TwilioRequest[];
  /**
   * The next responses, in order: an HTTP status with Twilio's error code, or `hangup`. If the list is empty, the
   * server accepts messages.
   */
  readonly next: ({ status: number; code: number; message: string } | 'hangup')[];
  close(): Promise<void>;
}

export async function startFakeTwilio(): Promise<FakeTwilio> {
  const requests: TwilioRequest[] = [];
  const next: FakeTwilio['next'] = [];
  const server = http.createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const params = Object.fromEntries(new URLSearchParams(body));
    const { authorization, 'content-type': contentType } = req.headers;
    requests.push({ path: req.url ?? '', authorization, contentType, params });
    const response = next.shift();
    if (response === 'hangup') return req.socket.destroy();
    res.setHeader('content-type', 'application/json');
    if (response) {
      res.statusCode = response.status;
      const { code, message, status } = response;
      res.end(JSON.stringify({ code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status }));
      return;
    }
    res.statusCode = 201;
    res.end(JSON.stringify(createMessageResponse(params, `SM${String(requests.length).padStart(32, '0')}`)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    next,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns the response of Twilio's API to a request that creates a message. */
function createMessageResponse(params: Record<string, string>, sid: string) {
  return {
    sid,
    account_sid: 'AC0',
    api_version: '2010-04-01',
    body: params.Body,
    from: params.From,
    to: params.To,
    status: 'queued',
    direction: 'outbound-api',
    date_created: 'Thu, 01 Jan 2026 12:00:00 +0000',
    date_updated: 'Thu, 01 Jan 2026 12:00:00 +0000',
    date_sent: null,
    error_code: null,
    error_message: null,
    messaging_service_sid: null,
    num_media: '0',
    num_segments: '1',
    price: null,
    price_unit: null,
    subresource_uris: {},
    uri: `/2010-04-01/Accounts/AC0/Messages/${sid}.json`,
  };
}
