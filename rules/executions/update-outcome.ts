import type { FieldError } from '../errors.ts';
import type { Data } from '../filters/data-values.ts';
import { listUntrustedNames, type Sourced } from '../provenance/provenance.ts';
import { uuidv7 } from '../uuid.ts';
import { fillUpdates, toUpdateOutput } from './contact-updates.ts';
import { applyContactUpdate, type RunChanges, type SeenContact } from './run.ts';
import { UpdateContactConfig } from './steps/update-contact.ts';

/**
 * Returns how an UPDATE_CONTACT step ends if the data would exceed the contact's limits. The step is FAILED with the
 * errors, and the execution continues.
 */
export function createRefusedUpdateOutcome(errors: FieldError[]): { status: 'FAILED'; error: string } {
  return { status: 'FAILED', error: errors.map(({ field, message }) => `${field}: ${message}`).join('; ') };
}

/** Returns how an UPDATE_CONTACT step ends in a test run, and its changes to the state of the run. */
export function toUpdateStepOutcome(p: {
  config: unknown;
  contact: SeenContact;
  variables: Sourced<Data>;
  untrustedTrigger: boolean;
}):
  | { status: 'COMPLETED'; output: Record<string, unknown>; changes: RunChanges }
  | { status: 'FAILED'; error: string } {
  const { updates, subscribed } = UpdateContactConfig.parse(p.config);
  const data = fillUpdates(updates, p.variables);
  const updated = applyContactUpdate(p.contact, { data, subscribed, untrustedTrigger: p.untrustedTrigger });
  if ('errors' in updated) return createRefusedUpdateOutcome(updated.errors);
  const { subscribed: isSubscribed, data: dataAfter } = updated.contact;
  const name = isSubscribed ? 'contact.subscribed' : 'contact.unsubscribed';
  return {
    status: 'COMPLETED',
    output: toUpdateOutput(
      { data: p.contact.data.values, subscribed: p.contact.subscribed },
      { updates: data.values, subscribed: isSubscribed },
    ),
    changes: {
      contact: { subscribed: isSubscribed, data: dataAfter.values, untrusted_keys: listUntrustedNames(dataAfter) },
      events: updated.subscriptionChanged ? [{ id: uuidv7(), name, data: {} }] : [],
    },
  };
}
