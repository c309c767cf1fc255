/** Text for one error code of the API. */
interface ErrorText {
  /** The problem in a few words. */
  title: string;
  /** The next step on the dashboard. */
  help: string;
  /** Shows the API's own message too, because only this message says which rule the request broke. */
  isSpecific?: true;
}

/** The text for each error code of the API. A test compares the list with `rules/errors.ts`. */
export const errors = {
  BAD_REQUEST: { title: 'The request was not understood', help: 'Reload the page, then try again.', isSpecific: true },
  DOMAIN_NOT_VERIFIED: {
    title: 'The sender’s domain is not verified',
    help: 'Verify the domain under Settings, Domains, then send from an address on it.',
  },
  CONTACT_UNSUBSCRIBED: {
    title: 'This contact is unsubscribed',
    help: 'Use a transactional template, or subscribe the contact if they agreed.',
  },
  NO_SMS_SENDER: { title: 'No SMS sender for this country', help: 'Add a sender under Settings, SMS senders.' },
  UNAUTHORIZED: { title: 'You are not signed in', help: 'Sign in with your email and password.', isSpecific: true },
  INVALID_API_KEY: { title: 'The API key is not valid', help: 'Create a new key under Developers, API keys.' },
  FORBIDDEN: {
    title: 'You don’t have permission to do this',
    help: 'Ask an owner or an admin of the project.',
    isSpecific: true,
  },
  PROJECT_DISABLED: {
    title: 'This project is disabled',
    help: 'You can view the project, but not change it. Ask the operator of this service to enable it.',
  },
  SMS_NOT_ENABLED: { title: 'SMS is not enabled', help: 'Ask the operator of this service to set up an SMS provider.' },
  NOT_FOUND: {
    title: 'Not found',
    help: 'The page or item may have been deleted, or it belongs to another project.',
    isSpecific: true,
  },
  TEMPLATE_NOT_FOUND: { title: 'Template not found', help: 'The template may have been deleted. Choose another one.' },
  METHOD_NOT_ALLOWED: { title: 'This action is not available', help: 'Reload the page, then try again.' },
  CONFLICT: {
    title: 'This is not possible in the current state',
    help: 'Reload the page to see the current state.',
    isSpecific: true,
  },
  IDEMPOTENCY_KEY_REUSED: { title: 'This was already submitted', help: 'Reload the page to see the result.' },
  PAYLOAD_TOO_LARGE: {
    title: 'The content or file is too large',
    help: 'Make the content or file smaller, then try again.',
    isSpecific: true,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    title: 'This type of file is not supported',
    help: 'Choose another file.',
    isSpecific: true,
  },
  VALIDATION_ERROR: { title: 'Check your input', help: 'Correct the input, then try again.', isSpecific: true },
  RATE_LIMIT_EXCEEDED: {
    title: 'Too many requests',
    help: 'Wait a moment, then try again.',
    isSpecific: true,
  },
  BILLING_LIMIT_EXCEEDED: {
    title: 'The monthly email limit is reached',
    help: 'Raise the limit under Settings, or wait until next month.',
  },
  INTERNAL_SERVER_ERROR: {
    title: 'Something went wrong on our side',
    help: 'Try again. If the error continues, report it with the request ID under Details.',
  },
  SERVICE_UNAVAILABLE: { title: 'Part of the service is unavailable', help: 'Try again in a few seconds.' },
  UNREACHABLE: { title: 'The service can’t be reached', help: 'Check your connection, then try again.' },
} as const satisfies Record<string, ErrorText>;

/** Text for an error without a code of the API, such as a proxy's error page. */
const otherError: ErrorText = {
  title: 'Something went wrong',
  help: 'Try again. If the error continues, report it.',
  isSpecific: true,
};

/** Returns the text for an error code. */
export function getErrorText(code: string | undefined): ErrorText {
  const texts: Record<string, ErrorText> = errors;
  return (code === undefined ? undefined : texts[code]) ?? otherError;
}
