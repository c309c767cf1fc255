import { Stack, Text } from '@mantine/core';
import { MailEditor } from '../../parts/mail-editor/mail-editor.tsx';

/** The body of a campaign, or of one of its variants, in the email editor. */
export function BodyEditor({
  label,
  subject,
  preheader,
  value,
  onChange,
  isReadOnly,
  fault,
}: {
  label: string;
  subject: string;
  preheader: string;
  value: string;
  onChange: (body: string) => void;
  isReadOnly: boolean;
  fault: string | undefined;
}) {
  return (
    <Stack gap={4} component="section" aria-label={label}>
      <Text fw={500} size="sm">
        {label}
      </Text>
      {fault && (
        <Text c="red" size="sm" role="alert">
          {fault}
        </Text>
      )}
      <MailEditor
        mail={{ subject, preheader, body: value, type: 'MARKETING' }}
        onBody={onChange}
        isReadOnly={isReadOnly}
      />
    </Stack>
  );
}
