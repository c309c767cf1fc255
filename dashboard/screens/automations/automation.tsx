import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { EditorQuery } from '../../parts/editor-frame.tsx';
import { text } from '../../text/text.ts';
import { AutomationEditor, GrayAutomation } from './automation-editor.tsx';

const route = getRouteApi('/shell/automations/$automationId');

/** One automation: its canvas, the contacts at each step, and a preview for one contact. */
export function Automation() {
  const { automationId } = route.useParams();
  const workflow = useQuery(queryFor('getWorkflow', { params: { id: automationId } }));
  return (
    <EditorQuery
      of={workflow}
      back={{ to: '/automations', label: text.nav.automations }}
      hasTabs
      pending={<GrayAutomation />}
    >
      {(loaded) => <AutomationEditor key={loaded.id} workflow={loaded} />}
    </EditorQuery>
  );
}
