// Three dimensions in a canvas: a camera that turns around what is shown, by pointer and by keys.
import { LinearSRGBColorSpace, PerspectiveCamera, Scene, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { oncePerFrame } from "./viewer.js";

export class Stage {
  readonly scene = new Scene();
  readonly renderer: WebGLRenderer;
  readonly #camera: PerspectiveCamera;
  readonly #controls: OrbitControls;
  #distance = 1;
  readonly draw = oncePerFrame(() => this.renderer.render(this.scene, this.#camera));

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(window.devicePixelRatio || 1);
    // Colours of pictures are shown as they are.
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.setClearColor(0x0c0d0f);
    this.#camera = new PerspectiveCamera(50, 1, 0.001, 1000);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.addEventListener("change", this.draw);
  }

  /** The camera that saw it (its vertical angle), and the depth that the view turns around. */
  lens(fovDeg: number, distance: number): void {
    this.#distance = distance;
    this.#camera.fov = fovDeg;
    this.#camera.near = distance / 1000;
    this.#camera.far = distance * 1000;
    this.#camera.updateProjectionMatrix();
  }

  /** Sees what the camera saw. */
  reset(): void {
    this.#camera.position.set(0, 0, 0);
    this.#controls.target.set(0, 0, -this.#distance);
    this.#controls.update();
    this.draw();
  }

  resize(width: number, height: number): void {
    this.renderer.setSize(width, height, false);
    this.#camera.aspect = width / Math.max(1, height);
    this.#camera.updateProjectionMatrix();
    this.draw();
  }

  /** Turns around the middle (radians), or comes nearer (a factor): for keys. */
  turn(sideways: number, up: number, nearer = 1): void {
    const { position } = this.#camera;
    const { target } = this.#controls;
    const offset = position.clone().sub(target);
    const radius = offset.length() / nearer;
    const angle = Math.atan2(offset.x, offset.z) + sideways;
    const tilt = Math.min(1.5, Math.max(-1.5, Math.asin(offset.y / offset.length()) + up));
    offset.set(Math.sin(angle) * Math.cos(tilt), Math.sin(tilt), Math.cos(angle) * Math.cos(tilt)).multiplyScalar(radius);
    position.copy(target).add(offset);
    this.#controls.update();
    this.draw();
  }

  dispose(): void {
    this.#controls.dispose();
    this.renderer.dispose();
  }
}
