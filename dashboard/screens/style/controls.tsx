import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Menu,
  PasswordInput,
  Radio,
  SegmentedControl,
  Select,
  SimpleGrid,
  Switch,
  Tabs,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconDots, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { AppLink } from '../../parts/app-link.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { notifySuccess, notifyWithUndo } from '../../parts/notifications.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { TextListInput } from '../../parts/text-list-input.tsx';
import { Part } from './part.tsx';

/** Buttons, menus, dialogs, tabs and inputs. */
export function Controls() {
  return (
    <>
      <Buttons />
      <Inputs />
    </>
  );
}

function Buttons() {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <Part title="Buttons, menus and dialogs">
      <Group>
        <Button leftSection={<IconPlus size={16} aria-hidden />}>Create campaign</Button>
        <Button variant="default">Preview</Button>
        <Button variant="subtle">Cancel</Button>
        <Button disabled>Disabled</Button>
        <Button loading>Saving</Button>
        <Button size="compact-sm" variant="default">
          Small
        </Button>
        <AppLink to="/style">Link</AppLink>
        <CopyButton value="sample" />
      </Group>
      <Group>
        <Menu>
          <Menu.Target>
            <ActionIcon variant="default" size="lg" aria-label="More actions">
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item>Duplicate</Menu.Item>
            <Menu.Divider />
            <Menu.Item color="red">Delete</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        <Button variant="default" onClick={() => setConfirming(true)}>
          Open a dialog
        </Button>
        <Button variant="default" onClick={() => notifySuccess('Saved.')}>
          Show a message
        </Button>
        <Button variant="default" onClick={() => notifyWithUndo('Contact removed.', () => {})}>
          Show a message with undo
        </Button>
      </Group>
      <Tabs defaultValue="content">
        <Tabs.List>
          <Tabs.Tab value="content">Content</Tabs.Tab>
          <Tabs.Tab value="audience">Audience</Tabs.Tab>
          <Tabs.Tab value="review" disabled>
            Review
          </Tabs.Tab>
        </Tabs.List>
        {['content', 'audience', 'review'].map((value) => (
          <Tabs.Panel key={value} value={value} pt="sm">
            The {value} of a campaign
          </Tabs.Panel>
        ))}
      </Tabs>
      <ConfirmTyped
        opened={isConfirming}
        onClose={() => setConfirming(false)}
        title="Delete this template?"
        what="Campaigns that use it keep their content. This cannot be undone."
        word="Welcome"
        action="Delete"
        onConfirm={() => setConfirming(false)}
        write={{ isPending: false, error: null }}
      />
    </Part>
  );
}

function Inputs() {
  const [tags, setTags] = useState('["tea","gift"]');
  return (
    <Part title="Inputs">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        <TextInput label="Name" placeholder="November news" description="Only you see it." />
        <TextInput label="Sender" defaultValue="news@shop" error="Must be an email address." />
        <TextInput label="Disabled" defaultValue="Fixed by the operator" disabled />
        <PasswordInput label="Password" defaultValue="correct horse" />
        <Select label="Template" data={['Welcome', 'Receipt']} defaultValue="Welcome" />
        <TextListInput label="Tags" json={tags} onChange={setTags} />
        <Textarea label="Note" placeholder="Why sending is paused" autosize minRows={2} />
        <SearchField label="Search" placeholder="Name or address" value={undefined} onChange={() => {}} />
      </SimpleGrid>
      <Group>
        <Checkbox label="Checked" defaultChecked />
        <Checkbox label="Unchecked" />
        <Radio label="Chosen" name="style" defaultChecked />
        <Radio label="Not chosen" name="style" />
        <Switch label="On" defaultChecked />
        <Switch label="Off" />
        <SegmentedControl data={['Desktop', 'Phone']} aria-label="Width" />
      </Group>
    </Part>
  );
}
