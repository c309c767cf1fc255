import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../../text/text.ts';

/** Tabs for emails and SMS, each a list with its own address. */
export function KindTabs({ active, children }: { active: 'emails' | 'sms'; children: ReactNode }) {
  const navigate = useNavigate();
  return (
    <Tabs
      value={active}
      onChange={(kind) => void navigate({ to: kind === 'sms' ? '/messages/sms' : '/messages' })}
      aria-label={text.messages.kinds}
    >
      <Tabs.List mb="md">
        <Tabs.Tab value="emails">{text.messages.emails}</Tabs.Tab>
        <Tabs.Tab value="sms">{text.messages.sms}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value={active}>{children}</Tabs.Panel>
    </Tabs>
  );
}
