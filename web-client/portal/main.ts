// Vite serves no script from outside of the folder of its HTML, but it accepts modules from anywhere.
import '../src/portal/main.tsx';
