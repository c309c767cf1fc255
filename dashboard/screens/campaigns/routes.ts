import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';
import {
  CAMPAIGN_STATUSES,
  type CampaignEditorStep,
  type CampaignStatus,
  OUTCOMES,
  type Outcome,
  STEPS,
} from './words.ts';

interface ListSearch {
  status?: CampaignStatus;
  search?: string;
}

export interface RecipientSearch {
  outcome?: Outcome;
  /** Reasons, separated by commas. */
  reason?: string;
  search?: string;
}

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/campaigns',
  validateSearch: ({ status, search }: Record<string, unknown>): ListSearch => {
    const match = CAMPAIGN_STATUSES.find((name) => name === status);
    return {
      ...(match && { status: match }),
      ...(search !== undefined && search !== '' && { search: String(search) }),
    };
  },
  component: lazyRouteComponent(() => import('./campaigns.tsx'), 'Campaigns'),
});

const newRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/campaigns/new',
  validateSearch: ({ segment }: Record<string, unknown>): { segment?: string } =>
    typeof segment === 'string' && segment !== '' ? { segment } : {},
  component: lazyRouteComponent(() => import('./new-campaign.tsx'), 'NewCampaign'),
});

const campaignRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/campaigns/$campaignId',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./campaign.tsx'), 'CampaignScreen'),
});

const editRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/campaigns/$campaignId/edit',
  staticData: { isFullScreen: true },
  validateSearch: ({ step }: Record<string, unknown>): { step?: CampaignEditorStep } => {
    const match = STEPS.find((name) => name === step);
    return match ? { step: match } : {};
  },
  component: lazyRouteComponent(() => import('./edit.tsx'), 'EditCampaign'),
});

const recipientsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/campaigns/$campaignId/recipients',
  validateSearch: ({ outcome, reason, search }: Record<string, unknown>): RecipientSearch => {
    const match = OUTCOMES.find((name) => name === outcome);
    return {
      ...(match && { outcome: match }),
      ...(typeof reason === 'string' && reason !== '' && { reason }),
      ...(typeof search === 'string' && search !== '' && { search }),
    };
  },
  component: lazyRouteComponent(() => import('./recipients.tsx'), 'Recipients'),
});

export const campaignsRoutes = [listRoute, newRoute, campaignRoute, editRoute, recipientsRoute] as const;
