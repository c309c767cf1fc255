import { optionalPort, switchWord, text } from './texts.ts';
import type { Variables } from './variable.ts';

/** Variables for the SMTP listeners: inbound email and the SMTP relay. */
export const LISTENERS = {
  INBOUND_SMTP_PORT: {
    schema: optionalPort,
    takes: 'a port number from 1 to 65535, or off',
    default: 'off',
    about: 'Port of the SMTP listener for bounces and inbound email.',
  },
  SMTP_RELAY_PORT: {
    schema: optionalPort,
    takes: 'a port number from 1 to 65535, or off',
    default: 'off',
    about: 'Port of the SMTP relay: user name `apikey`, password an API key with scope `email:send`.',
  },
  SMTP_RELAY_ALLOW_PLAIN: {
    schema: switchWord,
    takes: 'true or false',
    default: 'false',
    about: 'Lets the relay take a password without TLS from other hosts than loopback.',
  },
  TLS_CERT_FILE: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Certificate of the mail listeners (STARTTLS), with `TLS_KEY_FILE`.',
  },
  TLS_KEY_FILE: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Private key of `TLS_CERT_FILE`.',
  },
} as const satisfies Variables;
