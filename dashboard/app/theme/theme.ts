import {
  type ButtonProps,
  type CardProps,
  type CheckboxProps,
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type InputWrapperProps,
  type MantineColorsTuple,
  type MenuProps,
  type ModalProps,
  type SegmentedControlProps,
  type SelectProps,
  type SwitchProps,
  type TooltipProps,
} from '@mantine/core';
import { chooseFirstOption } from './first-option.ts';

/** The teal of Tidings, from light to dark. The tokens name the shades that components use. */
const tide: MantineColorsTuple = [
  '#eff7f8',
  '#e4f1f2',
  '#c9e4e7',
  '#b5d8dc',
  '#8fc4ca',
  '#4dbac6',
  '#0f8595',
  '#0c6673',
  '#0a5560',
  '#08464f',
];

/**
 * The neutral colors of tokens.css in Mantine's two scales, from light to dark. Mantine takes the grounds and borders of
 * cards, disabled controls and skeletons from them. Its own scales are bluish in the light scheme, and too bright in the
 * dark scheme.
 */
const gray: MantineColorsTuple = [
  '#f9f9f6',
  '#f4f4f0',
  '#ecece7',
  '#e8e8e2',
  '#d6d7d0',
  '#adb3b4',
  '#868b8e',
  '#545a5e',
  '#3d4244',
  '#1d2224',
];
const dark: MantineColorsTuple = [
  '#eceeed',
  '#cdd2d3',
  '#a9afb1',
  '#8b9295',
  '#363b3e',
  '#2e3335',
  '#1c2022',
  '#131617',
  '#0d0f10',
  '#0d0f10',
];

/** Maps the values of tokens.css to Mantine's names. Rules for single components are in app.css. */
export const theme = createTheme({
  colors: { tide, gray, dark },
  black: '#16191a',
  primaryColor: 'tide',
  primaryShade: { light: 7, dark: 5 },
  autoContrast: true,
  // White text on a color up to this luminance has a contrast of at least 4.5:1. Mantine's default of 0.3 also uses
  // white text on red and orange, where the contrast is only 3.3:1.
  luminanceThreshold: 0.18,
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '1.34', sm: '1.39', md: '1.43', lg: '1.5', xl: '1.4' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  radius: { xs: '4px', sm: '4px', md: '6px', lg: '10px', xl: '10px' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'var(--font-sans)',
  fontFamilyMonospace: 'var(--font-mono)',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '28px' },
      h2: { fontSize: '20px', lineHeight: '28px' },
      h3: { fontSize: '16px', lineHeight: '24px' },
      h4: { fontSize: '14px', lineHeight: '20px' },
      h5: { fontSize: '14px', lineHeight: '20px' },
      h6: { fontSize: '13px', lineHeight: '18px' },
    },
  },
  respectReducedMotion: true,
  // White on the accent color of the dark scheme has a contrast of only 2.2:1, and black on red one of 3.8:1.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input);
    if (input.variant !== 'filled') return colors;
    if (input.color === 'red') return { ...colors, color: 'var(--color-on-danger)' };
    const isAccent = input.color === undefined || input.color === 'tide';
    return isAccent ? { ...colors, color: 'var(--color-on-accent)' } : colors;
  },
  components: {
    // With the radius of other components, a checkbox would look like a radio button.
    Checkbox: withDefaults<CheckboxProps>({ radius: 'sm', size: 'xs' }),
    Switch: withDefaults<SwitchProps>({ size: 'sm', withThumbIndicator: false }),
    Button: withDefaults<ButtonProps>({ size: 'sm' }),
    Card: withDefaults<CardProps>({ bg: 'var(--color-surface)' }),
    Tooltip: withDefaults<TooltipProps>({ openDelay: 300 }),
    SegmentedControl: withDefaults<SegmentedControlProps>({ withItemsBorders: false }),
    Modal: withDefaults<ModalProps>({ radius: 'lg' }),
    // Without this, Mantine adds a placeholder, which is not allowed in a menu (axe: aria-required-children). The first
    // item gets the focus.
    Menu: withDefaults<MenuProps>({ withInitialFocusPlaceholder: false }),
    // Enter takes the first option that matches what was typed.
    Select: withDefaults<SelectProps>({ selectFirstOptionOnChange: true, onKeyDown: chooseFirstOption }),
    // The help text is below the field, so that it does not separate the field from its label.
    InputWrapper: withDefaults<InputWrapperProps>({
      withAsterisk: false,
      inputWrapperOrder: ['label', 'input', 'description', 'error'],
    }),
  },
});

/**
 * Returns the theme of one component. `Select.extend()` would do the same, but it loads every component of the theme
 * with the first screen.
 */
function withDefaults<Props>(defaultProps: Partial<Props>) {
  return { defaultProps };
}

const COLORS = {
  '--mantine-color-body': 'var(--color-surface)',
  '--mantine-color-text': 'var(--color-text)',
  '--mantine-color-dimmed': 'var(--color-text-secondary)',
  '--mantine-color-placeholder': 'var(--color-text-faint)',
  '--mantine-color-error': 'var(--color-failed-text)',
  '--mantine-color-anchor': 'var(--color-accent-text)',
  '--mantine-color-default': 'var(--color-surface)',
  '--mantine-color-default-hover': 'var(--color-hover)',
  '--mantine-color-default-color': 'var(--color-text)',
  '--mantine-color-default-border': 'var(--color-border)',
  '--mantine-color-disabled': 'var(--color-pressed)',
  '--mantine-color-disabled-color': 'var(--color-text-faint)',
  '--mantine-color-disabled-border': 'var(--color-border)',
  '--mantine-color-tide-filled': 'var(--color-accent)',
  '--mantine-color-tide-filled-hover': 'var(--color-accent-hover)',
  '--mantine-color-tide-light': 'var(--color-accent-soft)',
  '--mantine-color-tide-light-color': 'var(--color-accent-text)',
  '--mantine-color-tide-text': 'var(--color-accent-text)',
  '--mantine-color-tide-outline': 'var(--color-accent)',
};

/** The hues of Mantine that show a status, each with the tokens of that status. */
const STATUS = { red: 'failed', orange: 'waiting', yellow: 'waiting', green: 'done', teal: 'done', blue: 'moving' };

const STATUS_COLORS = Object.fromEntries(
  Object.entries(STATUS).flatMap(([hue, status]) => [
    [`--mantine-color-${hue}-filled`, `var(--color-${status})`],
    [`--mantine-color-${hue}-light`, `var(--color-${status}-soft)`],
    [`--mantine-color-${hue}-light-color`, `var(--color-${status}-text)`],
    [`--mantine-color-${hue}-text`, `var(--color-${status}-text)`],
    [`--mantine-color-${hue}-outline`, `var(--color-${status}-text)`],
  ]),
);

const TOKENS = {
  ...COLORS,
  ...STATUS_COLORS,
  // The text of a destructive item in a menu.
  '--mantine-color-red-6': 'var(--color-failed-text)',
  '--mantine-color-red-filled': 'var(--color-danger)',
  '--mantine-color-red-filled-hover': 'var(--color-danger-hover)',
  '--mantine-color-gray-light': 'var(--color-sunken)',
  '--mantine-color-gray-light-color': 'var(--color-text-secondary)',
  '--mantine-color-gray-text': 'var(--color-text-secondary)',
  '--mantine-color-violet-light': 'var(--color-sunken)',
  '--mantine-color-violet-light-color': 'var(--color-text)',
};

/** Both schemes get the same tokens, because each token already has a value per scheme. */
export const resolveCssVariables: CSSVariablesResolver = () => ({ variables: {}, light: TOKENS, dark: TOKENS });
