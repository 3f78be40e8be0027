import { useWindowEvent } from '@mantine/hooks';

/**
 * Ignores a file that is dropped outside of its target: the browser would open it in place of this page, and all
 * connections and messages would be lost.
 */
export function useDropGuard(): void {
  useWindowEvent('dragover', guard);
  useWindowEvent('drop', guard);
}

function guard(event: DragEvent): void {
  if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
}
