import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { PreviewDialog } from '../../parts/email-editor/preview-dialog.tsx';
import { text } from '../../text/text.ts';
import type { CampaignDraft } from './campaign-draft.ts';

const words = text.campaigns;

/** Shows the email, or one of its variants, as a contact will see it. */
export function CampaignPreview({ draft, onClose }: { draft: CampaignDraft; onClose: () => void }) {
  const [key, setKey] = useState('');
  const version = draft.versions.find((one) => one.key === key);
  const email = {
    subject: version?.subject || draft.subject,
    preheader: version?.preheader || draft.preheader,
    body: version?.body ?? draft.body,
    type: 'MARKETING' as const,
  };
  return (
    <PreviewDialog email={email} onClose={onClose}>
      {draft.versions.length > 0 && <VersionChoice versions={draft.versions} value={key} onChange={setKey} />}
    </PreviewDialog>
  );
}

/** Chooses the main email, whose key is empty, or one of its variants. */
export function VersionChoice({
  versions,
  value,
  onChange,
}: {
  versions: readonly { key: string; name: string }[];
  value: string;
  onChange: (key: string) => void;
}) {
  return (
    <SegmentedControl
      size="xs"
      aria-label={words.version}
      value={value}
      onChange={onChange}
      data={[
        { value: '', label: words.mainContent },
        ...versions.map(({ key, name }) => ({ value: key, label: `${words.version} ${name}` })),
      ]}
    />
  );
}
