import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';

export const TEMPLATE_TYPES = ['TRANSACTIONAL', 'MARKETING'] as const;
export type TemplateType = (typeof TEMPLATE_TYPES)[number];

/** The filters of the list. */
export interface TemplatesSearch {
  search?: string;
  type?: TemplateType;
}

/** The filter of the images. */
export interface ImagesSearch {
  used?: boolean;
}

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates',
  validateSearch: ({ search, type }: Record<string, unknown>): TemplatesSearch => ({
    ...(typeof search === 'string' && search !== '' && { search: search.slice(0, 200) }),
    ...(TEMPLATE_TYPES.includes(type as TemplateType) && { type: type as TemplateType }),
  }),
  component: lazyRouteComponent(() => import('./templates.tsx'), 'Templates'),
});

const imagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/pictures',
  validateSearch: ({ used }: Record<string, unknown>): ImagesSearch => (typeof used === 'boolean' ? { used } : {}),
  component: lazyRouteComponent(() => import('./images.tsx'), 'Images'),
});

const templateRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/$templateId',
  staticData: { isFullScreen: true },
  component: lazyRouteComponent(() => import('./template.tsx'), 'TemplateScreen'),
});

export const templatesRoutes = [listRoute, imagesRoute, templateRoute] as const;
