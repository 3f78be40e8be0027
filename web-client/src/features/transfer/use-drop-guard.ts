import { useEffect } from 'react';

/**
 * A file that is dropped beside the place for it is let fall: the browser would open it in the place of this page,
 * with all connections and messages.
 */
export function useDropGuard(): void {
  useEffect(() => {
    const guard = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    window.addEventListener('dragover', guard);
    window.addEventListener('drop', guard);
    return () => {
      window.removeEventListener('dragover', guard);
      window.removeEventListener('drop', guard);
    };
  }, []);
}
