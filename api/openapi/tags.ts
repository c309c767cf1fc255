/** A description for each tag, in the order of the API reference. */
const TAGS: Record<string, string> = {
  Email: 'Send single emails and batches, and read what was sent.',
  Contacts: 'The people you write to: data, consent, import, export and erasure.',
  Segments: 'Groups of contacts: contacts that match conditions, or that you add.',
  Topics: 'Kinds of marketing email that contacts choose one by one.',
  Suppressions: 'Addresses that get no email, or no marketing email, with the reason.',
  Campaigns: 'Send one email to many contacts, now or at a given time, and read its statistics.',
  Templates: 'Emails that campaigns, automations and requests can reuse.',
  Assets: 'Images for emails.',
  Workflows: 'Automations: graphs of steps that run for a contact after an event.',
  Events: 'Record what contacts do. An event can start an automation, or end a wait in one.',
  Track: "Record an event for an address, as a web page does with the project's public key.",
  SMS: 'Send SMS, and read which numbers sent STOP.',
  Storefront: 'Back-in-stock alerts and visits of a shop.',
  Verification: 'Check an address before you write to it.',
  Webhooks: 'Endpoints that receive the events of the project, and their deliveries.',
  Activity: 'Everything that the project recorded, newest first.',
  Analytics: 'Statistics of the project over time.',
  Requests: 'The log of API requests.',
  Domains: 'Domains to send from, and their DNS records.',
  'API keys': 'Keys of the project, and their scopes.',
  Project: 'Settings of the project, and the hold that stops its sending.',
  Team: 'Members of the project, and invitations.',
  'Audit log': 'Changes by users, keys and operators.',
  Accounts: 'Sign up, sign in and sign out.',
  Operator: 'The state of the whole service, and limits of its projects.',
  Health: 'For load balancers and monitoring.',
  Callbacks: 'Requests from email and SMS providers.',
};

/**
 * Returns the tags that the operations of these paths use, with descriptions.
 * @throws Error when a tag has no description
 */
export function listTags(paths: object): { name: string; description: string }[] {
  const operations = Object.values(paths).flatMap((item: object) => Object.values(item));
  const used = new Set<string>(operations.flatMap((operation: { tags?: string[] }) => operation.tags ?? []));
  const unknown = [...used].filter((name) => !(name in TAGS));
  if (unknown.length > 0) throw new Error(`describe these tags in api/openapi/tags.ts: ${unknown.join(', ')}`);
  return Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []));
}
