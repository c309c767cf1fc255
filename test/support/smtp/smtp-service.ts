import { callHttp } from '../http.ts';
import { type StartedService, startService } from '../start.ts';

/**
 * Starts a service with two workers that send to this sink. Emails are not signed, and the number of API requests is
 * not limited. Tests kill the service while it sends many emails.
 */
export function startSmtpService(
  home: string,
  sinkUrl: string,
  more: Record<string, string> = {},
): Promise<StartedService> {
  const env = {
    WORKERS: '2',
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sinkUrl,
    DKIM_SIGN: 'off',
    RATE_LIMIT_PER_MINUTE: '0',
    ...more,
  };
  return startService({ home, env });
}

/** Calls the API of a running service with its secret key. Fails if the response is an error, and shows it. */
// biome-ignore lint/suspicious/noExplicitAny: responses of several shapes
export async function callService(service: StartedService, method: string, path: string, body?: unknown): Promise<any> {
  const { baseUrl, secretKey } = service.dev();
  const response = await callHttp(baseUrl, method, path, { key: secretKey, body });
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}
