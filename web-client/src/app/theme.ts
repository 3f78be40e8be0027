import { type CSSVariablesResolver, createTheme } from '@mantine/core';

const small = { defaultProps: { size: 'xs' } } as const;

/** Menus, lists and dialogs are rendered into the element with this id. */
export const OVERLAYS_ID = 'overlays';

/** Dense: the client is a tool that people look at all day. */
export const theme = createTheme({
  primaryColor: 'indigo',
  colors: {
    // Mantine's own grey is neutral; this one is bluish like the surfaces.
    dark: [
      '#d5d8df',
      '#b3b8c3',
      '#8d939e',
      '#656b78',
      '#40454f',
      '#2e323b',
      '#262a32',
      '#1c1f26',
      '#16181d',
      '#101216',
    ],
  },
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  // Menus and dialogs do not fade for users who have asked their system for less motion.
  respectReducedMotion: true,
  fontFamily:
    '"Inter Variable", "Inter as Arial", "Inter as Roboto", "Inter as DejaVu Sans", system-ui, sans-serif',
  fontFamilyMonospace:
    '"JetBrains Mono Variable", ui-monospace, Menlo, "JetBrains Mono as Consolas", monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '18px' },
  autoContrast: true,
  // By name: the components themselves are loaded with the views that use them.
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle' } },
    Badge: { defaultProps: { size: 'sm', radius: 'sm', tt: 'none', fw: 600 } },
    Button: small,
    Checkbox: small,
    Input: small,
    InputBase: small,
    // The description of a field is below it, so that fields side by side are in line.
    InputWrapper: {
      defaultProps: { size: 'xs', inputWrapperOrder: ['label', 'input', 'description', 'error'] },
    },
    // Without the placeholder the first item has the focus: a menu must contain only items (ARIA 1.2).
    Menu: {
      defaultProps: { shadow: 'md', withinPortal: true, withInitialFocusPlaceholder: false },
    },
    Modal: {
      defaultProps: { centered: true, padding: 'md' },
      styles: { title: { fontWeight: 650 } },
    },
    DrawerCloseButton: { defaultProps: { 'aria-label': 'Close' } },
    ModalCloseButton: { defaultProps: { 'aria-label': 'Close' } },
    // A header outside of the main part would be a second banner to screen readers.
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    ModalHeader: { defaultProps: { role: 'presentation' } },
    MultiSelect: small,
    NumberInput: small,
    PasswordInput: small,
    // Elements that open above the page are in a landmark, like the rest of it.
    Portal: { defaultProps: { target: `#${OVERLAYS_ID}` } },
    SegmentedControl: small,
    Select: { defaultProps: { size: 'xs', allowDeselect: false } },
    Switch: small,
    Tabs: { defaultProps: { keepMounted: false } },
    TagsInput: small,
    Textarea: small,
    TextInput: small,
    Tooltip: { defaultProps: { fz: 'xs', openDelay: 300 } },
  },
});

/** Mantine's light colours have too little contrast on its own backgrounds (4.5 to 1 is required). */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b626a',
    '--mantine-color-placeholder': '#6c737b',
    '--mantine-color-error': '#c92a2a',
    '--apus-surface': '#f8f9fb',
    '--apus-line': '#e3e6ea',
    '--apus-in': '#05684a',
    '--apus-out': '#364fc7',
  },
  dark: {
    '--mantine-color-body': '#16181d',
    '--mantine-color-dimmed': '#a3a8b3',
    '--mantine-color-placeholder': '#8d939e',
    '--mantine-color-error': '#ff8787',
    '--apus-surface': '#1c1f26',
    '--apus-line': '#2e323b',
    '--apus-in': 'var(--mantine-color-teal-4)',
    '--apus-out': 'var(--mantine-color-indigo-3)',
  },
});
