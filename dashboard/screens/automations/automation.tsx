import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { AutomationEditor } from './automation-editor.tsx';

const route = getRouteApi('/shell/automations/$automationId');

/** One automation: its canvas, the contacts at each step, and a preview for one contact. */
export function Automation() {
  const { automationId } = route.useParams();
  const workflow = useQuery(queryFor('getWorkflow', { params: { id: automationId } }));
  return <QueryView of={workflow}>{(found) => <AutomationEditor key={found.id} workflow={found} />}</QueryView>;
}
