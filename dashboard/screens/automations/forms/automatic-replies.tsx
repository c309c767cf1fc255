import { Checkbox } from '@mantine/core';
import { text } from '../../../text/text.ts';

/**
 * Asks whether automatic replies count as an event. Only an inbound email can be one, so it shows nothing for other
 * events.
 */
export function AutomaticReplies({
  eventName,
  at,
  checked,
  onChange,
  readOnly,
}: {
  eventName: string;
  at: keyof typeof text.automations.includeAutomatic;
  checked: boolean;
  onChange: (checked: boolean) => void;
  readOnly: boolean;
}) {
  if (eventName.trim() !== 'email.received') return null;
  return (
    <Checkbox
      label={text.automations.includeAutomatic[at]}
      checked={checked}
      disabled={readOnly}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
