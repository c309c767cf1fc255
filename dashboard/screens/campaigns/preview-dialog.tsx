import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { PreviewDialog } from '../../parts/email-editor/preview-dialog.tsx';
import { text } from '../../text/text.ts';
import type { CampaignDraft } from './campaign-draft.ts';

const words = text.campaigns;

/** Shows the email, or one of its variants, as a contact will see it. */
export function CampaignPreview({ draft, onClose }: { draft: CampaignDraft; onClose: () => void }) {
  const [key, setKey] = useState('');
  const variant = draft.variants.find((one) => one.key === key);
  const email = {
    subject: variant?.subject || draft.subject,
    preheader: variant?.preheader || draft.preheader,
    body: variant?.body ?? draft.body,
    type: 'MARKETING' as const,
  };
  return (
    <PreviewDialog email={email} onClose={onClose}>
      {draft.variants.length > 0 && <VariantSelect variants={draft.variants} value={key} onChange={setKey} />}
    </PreviewDialog>
  );
}

/** Chooses the main email, whose key is empty, or one of its variants. */
export function VariantSelect({
  variants,
  value,
  onChange,
}: {
  variants: readonly { key: string; name: string }[];
  value: string;
  onChange: (key: string) => void;
}) {
  return (
    <SegmentedControl
      size="xs"
      aria-label={words.variant}
      value={value}
      onChange={onChange}
      data={[
        { value: '', label: words.mainContent },
        ...variants.map(({ key, name }) => ({ value: key, label: `${words.variant} ${name}` })),
      ]}
    />
  );
}
