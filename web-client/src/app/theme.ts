import { createTheme } from '@mantine/core';

/** Dense: the client is a tool that people look at all day. */
export const theme = createTheme({
  primaryColor: 'indigo',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "JetBrains Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  autoContrast: true,
});
