import { text } from '../../../text/text.ts';

const words = text.contacts.who;

/**
 * Describes an actor.
 * @param actor in the form of the API: `user:<id>`, `key:<id>`, `contact` …, or the name of a provider
 * @param name the actor's name, if known
 */
export function describeActor(actor: string | null | undefined, name: string | null | undefined): string {
  if (!actor) return words.nobody;
  const [kind = '', id] = actor.split(':');
  if (name && kind === 'key') return words.apiKey(name);
  if (name && kind === 'execution') return words.automation(name);
  if (name) return name;
  if (id === undefined)
    return (words as Record<string, unknown>)[kind] === undefined ? actor : String(words[kind as 'contact']);
  return kind === 'user' || kind === 'key' || kind === 'job' || kind === 'execution' ? words[kind] : actor;
}
