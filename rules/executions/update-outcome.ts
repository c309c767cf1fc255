import type { FieldError } from '../errors.ts';
import type { Data } from '../filters/data-values.ts';
import { type Sourced, untrustedNames } from '../provenance/provenance.ts';
import { uuidv7 } from '../uuid.ts';
import { resolveUpdates, updateOutput } from './contact-updates.ts';
import { applyContactUpdate, type RunChanges, type SeenContact } from './run.ts';
import { UpdateContactConfig } from './steps/update-contact.ts';

/**
 * Returns how an UPDATE_CONTACT step ends if the data would exceed the contact's limits. The step is FAILED with the
 * errors, and the execution continues.
 */
export function refusedUpdate(errors: FieldError[]): { status: 'FAILED'; error: string } {
  return { status: 'FAILED', error: errors.map(({ field, message }) => `${field}: ${message}`).join('; ') };
}

/** Returns how an UPDATE_CONTACT step ends in a test run, and its changes to the state of the run. */
export function outcomeOfUpdate(p: {
  config: unknown;
  contact: SeenContact;
  variables: Sourced<Data>;
  untrustedTrigger: boolean;
}):
  | { status: 'COMPLETED'; output: Record<string, unknown>; changes: RunChanges }
  | { status: 'FAILED'; error: string } {
  const { updates, subscribed } = UpdateContactConfig.parse(p.config);
  const data = resolveUpdates(updates, p.variables);
  const updated = applyContactUpdate(p.contact, { data, subscribed, untrustedTrigger: p.untrustedTrigger });
  if ('errors' in updated) return refusedUpdate(updated.errors);
  const { subscribed: isSubscribed, data: dataAfter } = updated.contact;
  const name = isSubscribed ? 'contact.subscribed' : 'contact.unsubscribed';
  return {
    status: 'COMPLETED',
    output: updateOutput(
      { data: p.contact.data.values, subscribed: p.contact.subscribed },
      { updates: data.values, subscribed: isSubscribed },
    ),
    changes: {
      contact: { subscribed: isSubscribed, data: dataAfter.values, untrusted_keys: untrustedNames(dataAfter) },
      events: updated.subscriptionChanged ? [{ id: uuidv7(), name, data: {} }] : [],
    },
  };
}
