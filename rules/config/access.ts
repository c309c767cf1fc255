import { z } from 'zod';
import { isAddressOrNetwork } from '../access/caller-address.ts';
import { createEmailSchema } from '../emails/email-schema.ts';
import { dnsServer, list, origin, switchWord } from './texts.ts';
import type { Variables } from './variable.ts';

/** An attacker could guess shorter keys. The recommended key is the output of `openssl rand -hex 32`. */
const SECRET_KEY_MIN_CHARS = 16;

/** Variables with secrets that every process shares. */
export const SECRETS = {
  SECRET_KEY: {
    schema: z.string().min(SECRET_KEY_MIN_CHARS),
    takes: `at least ${SECRET_KEY_MIN_CHARS} characters; make one with "openssl rand -hex 32"`,
    defaultText: '`npm start` creates a key in the home folder; otherwise required',
    about: 'Signs links and encrypts stored secrets; the same for every process.',
    secret: true,
  },
} as const satisfies Variables;

/** Variables for the networks that the service may reach, and for the callers that may reach the service. */
export const ACCESS = {
  WEBHOOK_ALLOW_PRIVATE: {
    schema: switchWord,
    takes: 'true or false',
    default: 'false',
    about: 'Lets webhooks reach private and loopback addresses (development only).',
  },
  DNS_SERVERS: {
    schema: list(dnsServer),
    takes: 'a comma-separated list of IP addresses with optional ports, such as 127.0.0.1:5353,9.9.9.9',
    default: '',
    defaultText: "the system's",
    about: 'DNS servers for webhooks, and for verification of addresses and domains.',
  },
  SIGNUP: {
    schema: z.enum(['on', 'first', 'off']),
    takes: 'on, first or off',
    defaultText: '`on` on a loopback `HOST`, else `first`',
    about: 'Users that may sign up: anyone, only the first one, or no one.',
  },
  DASHBOARD: {
    schema: switchWord,
    takes: 'on or off',
    default: 'on',
    about: 'Whether the API serves the dashboard at `/app`.',
  },
  OPERATORS: {
    schema: list(createEmailSchema()),
    takes: 'a comma-separated list of addresses such as ada@example.com',
    default: '',
    defaultText: 'none; under `npm start` the owner of the first project',
    about:
      'Email addresses of the accounts that operate the service (`/operator`). If several accounts have the same address, only the oldest one is an operator.',
  },
  CORS_ORIGINS: {
    schema: list(origin),
    takes: 'a comma-separated list of origins such as https://app.example.com',
    default: '',
    defaultText: 'none',
    about: 'Origins whose pages may call the API from a browser.',
  },
  TRUSTED_PROXIES: {
    schema: list(z.string().refine(isAddressOrNetwork)),
    takes: 'a comma-separated list of IP addresses and networks such as 10.0.0.0/8,192.0.2.7 (never /0)',
    default: '',
    defaultText: 'none',
    about:
      'Proxies in front of the API. The address of the caller is read from `X-Forwarded-For` only if the request comes from one of these proxies.',
  },
} as const satisfies Variables;
