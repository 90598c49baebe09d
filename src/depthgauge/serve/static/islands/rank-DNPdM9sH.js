import{a as e,i as t,n,o as r,r as i,t as a}from"./controls-DkslJ61V.js";import{n as o,t as s}from"./outbox-DKzWVa-C.js";function c(e,t){return e.map(e=>e.filter(e=>e!==t)).filter(e=>e.length>0)}function l(e,t,n){let r=e.map(e=>e.filter(e=>e!==t));return r.splice(n,0,[t]),r.filter(e=>e.length>0)}function u(e,t,n){return e.map((e,r)=>r===n?[...e.filter(e=>e!==t),t]:e.filter(e=>e!==t)).filter(e=>e.length>0)}function d(e,t,n){let r=e.findIndex(e=>e.includes(t));if(r<0)return e;if((e[r]?.length??0)>1)return l(e,t,n<0?r:r+1);let i=r+n;return i<0||i>=e.length?e:u(c(e,t),t,n<0?i:r)}var f={disparity:`disparity`,truth:`true disparity`,error:`true minus estimated`,normals:`normals`},p=[`bad`,`poor`,`fair`,`good`,`excellent`],m=class extends n{static styles=[a,r`
      .question { font-size: 1.05rem; margin: .2rem 0 .5rem; max-width: 60rem; }
      .views { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 1rem; align-items: start; }
      .places { list-style: none; margin: 0; padding: 0; }
      .place { display: flex; flex-wrap: wrap; gap: .5rem; border: 1px solid var(--line, #bbb); border-radius: 6px; padding: .4rem .5rem; align-items: center; }
      .place > .number { min-width: 2.2rem; color: var(--soft); font-variant-numeric: tabular-nums; }
      .gap { height: .7rem; border-radius: 4px; }
      .over { background: var(--accent); opacity: .5; }
      .place.over { opacity: 1; background: var(--wash); }
      .card { display: inline-flex; gap: .5rem; align-items: center; padding: .25rem .5rem .25rem .25rem; cursor: grab; touch-action: none; min-height: 0; }
      .card img { width: 7rem; height: auto; display: block; border-radius: 3px; pointer-events: none; image-rendering: auto; }
      .card strong { font-size: 1.1rem; }
      figure { margin: 0; position: relative; }
      figcaption { font-size: .85rem; color: var(--soft); }
      .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: .5rem; }
      .pane { overflow: auto; max-height: 46vh; position: relative; background: #0c0d0f; border-radius: 4px; }
      .sheet { position: relative; }
      .sheet img { width: 100%; display: block; }
      .sheet img.edges { position: absolute; inset: 0; pointer-events: none; image-rendering: pixelated; }
      .sheet svg { position: absolute; inset: 0; width: 100%; height: 100%; }
      .sheet.mark svg { cursor: crosshair; touch-action: none; }
      .sheet:not(.mark) svg { pointer-events: none; }
      .area { fill: rgb(255 0 90 / .28); stroke: #ff2d78; stroke-width: 2; vector-effect: non-scaling-stroke; }
      .trouble { color: var(--bad, #b3261e); font-weight: 600; }
      @media (max-width: 60rem) { .views { grid-template-columns: minmax(0, 1fr); } }
    `];#e=[];#t=[];#n=null;#r=[];#i=/* @__PURE__ */ new Set;#a=0;#o=[];#s=`A`;#c=!1;#l=1;#u=!1;#d=[];#f=[1,1];#p=null;#m=0;#h=``;#g=!1;#_=``;#v=``;connectedCallback(){super.connectedCallback(),this.#x()}disconnectedCallback(){super.disconnectedCallback(),this.#n?.stop()}get#y(){return this.dataset.person??``}get#b(){return this.dataset.base??``}async#x(){try{let e=await fetch(`${this.#b}/api/study/${this.#y}`),t=await e.json();if(!e.ok)throw Error(t.error);this.#e=t.tasks,this.#t=t.scene;let n=new Image;n.src=`${this.#b}/study/${this.#y}/scene/image.png`,await n.decode(),this.#f=[n.naturalWidth,n.naturalHeight]}catch(e){this.#h=`The study cannot be shown: ${e instanceof Error?e.message:`there is no connection`}.`,this.requestUpdate();return}let e=!0;this.#n=new s(`${this.#b}/api/study/${this.#y}/events`,`rank:${this.#y}`,(t,n)=>{for(let e of t)this.#S(e);if(n.error!==void 0&&(this.#h=n.error),e){e=!1;let t=this.#e.findIndex((e,t)=>this.#w(t)===null);this.#T(t<0?this.#e.length:t)}this.requestUpdate()},(e,t)=>{this.#h=e,this.#g=t,this.requestUpdate()})}#S(e){this.#i.has(e.id)||(this.#i.add(e.id),this.#r.push(e))}#C(e){this.#S(e),this.#n?.push(e),this.requestUpdate()}#w(e){let t=this.#r.findLast(t=>t.kind===`order`&&t.task===e);return t?.kind===`order`?t.places:null}#T(e){this.#a=e;let t=this.#e[e]?.letters??[];this.#o=this.#w(e)??t.map(e=>[e]),this.#s=t[0]??`A`,this.#d=[],this.#m=performance.now(),this.dataset.task=String(e),this.requestUpdate()}#E(e){this.#o=e,this.requestUpdate()}#D(){let e=Math.min(86400,Math.round((performance.now()-this.#m)/100)/10);this.#C({id:o(),kind:`order`,task:this.#a,places:this.#o,seconds:e}),this.#T(this.#a+1)}#O(e,t){this.#M(t),e.button===0&&(this.#_=t,e.currentTarget.setPointerCapture(e.pointerId))}#k(e){if(this.#_===``)return;let t=this.renderRoot.elementsFromPoint(e.clientX,e.clientY).find(e=>e instanceof HTMLElement&&e.dataset.drop!==void 0),n=t instanceof HTMLElement?t.dataset.drop??``:``;n!==this.#v&&(this.#v=n,this.requestUpdate())}#A(){let[e,t]=this.#v.split(`:`);this.#_!==``&&e===`gap`&&this.#E(l(this.#o,this.#_,Number(t))),this.#_!==``&&e===`place`&&this.#E(u(this.#o,this.#_,Number(t))),this.#_=``,this.#v=``,this.requestUpdate()}async#j(e,t){let n=e.key===`ArrowUp`?-1:+(e.key===`ArrowDown`);n===0||e.ctrlKey||e.metaKey||(e.preventDefault(),this.#E(d(this.#o,t,n)),await this.updateComplete,this.renderRoot.querySelector(`button[data-letter="${t}"]`)?.focus())}#M(e){this.#s=e,this.#d=[],this.requestUpdate()}#N(e){let t=e.currentTarget.getBoundingClientRect(),[n,r]=this.#f;return[Math.round((e.clientX-t.left)/t.width*n*10)/10-.5,Math.round((e.clientY-t.top)/t.height*r*10)/10-.5]}#P(e){this.#u&&e.button===0&&(e.preventDefault(),e.currentTarget.setPointerCapture(e.pointerId),this.#d=[this.#N(e)])}#F(e){this.#u&&this.#d.length!==0&&e.buttons!==0&&(this.#d.push(this.#N(e)),this.requestUpdate())}#I(){this.#d.length>=3&&this.#C({id:o(),kind:`wrong`,task:this.#a,letter:this.#s,points_px:this.#d.slice(0,5e3)}),this.#d=[],this.requestUpdate()}#L(e){if(!this.#u)return;let[t,n]=this.#f,[r,i]=this.#p??[t/2,n/2],a=e.shiftKey?1:Math.max(1,Math.round(t/40)),o={ArrowLeft:[-a,0],ArrowRight:[a,0],ArrowUp:[0,-a],ArrowDown:[0,a]}[e.key];if(o!==void 0)this.#p=[Math.max(0,Math.min(t-1,r+o[0])),Math.max(0,Math.min(n-1,i+o[1]))];else if(e.key===` `)this.#d.push([r,i]);else if(e.key===`Enter`)this.#I();else if(e.key===`Escape`)this.#d=[];else return;e.preventDefault(),this.requestUpdate()}get#R(){let e=new Set(this.#r.map(e=>e.kind===`unwrong`?e.of:``));return this.#r.filter(t=>t.kind===`wrong`&&t.task===this.#a&&t.letter===this.#s&&!e.has(t.id))}#z(e){let t=e.currentTarget;for(let e of this.renderRoot.querySelectorAll(`.pane`))e!==t&&(e.scrollLeft=t.scrollLeft,e.scrollTop=t.scrollTop)}updated(){for(let e of this.renderRoot.querySelectorAll(`.sheet`))e.style.width=`${100*this.#l}%`;let e=`${this.#f[0]} / ${this.#f[1]}`;for(let t of this.renderRoot.querySelectorAll(`.card img, .sheet > img:first-child`))t.style.aspectRatio=e}render(){let e=this.#e[this.#a],n=t`<p class="status" role="status"><span class=${this.#g?`trouble`:``}>${this.#h}</span></p>`;return this.#r.some(e=>e.kind===`withdraw`)?t`<p class="question">You have withdrawn. Nothing of what you said is used.</p>${n}`:this.#e.length>0&&e===void 0?t`<p class="question">That was all. Thank you!</p>${n}
        <div class="bar"><button type="button" @click=${()=>this.#T(0)}>Look through it again</button>${this.#B()}</div>`:e===void 0?t`${n}<slot></slot>`:t`
      <p class="question">${e.question} <span class="status">Task ${this.#a+1} of ${this.#e.length}. Best at the top; drop one on another place for a tie.</span></p>
      <div class="bar" role="group" aria-label="View">
        ${this.#t.includes(`edges`)?t`<label><input type="checkbox" .checked=${this.#c} @change=${e=>{this.#c=e.target.checked,this.requestUpdate()}} />true discontinuities</label>`:i}
        <label>size <input type="range" min="1" max="6" step="0.5" .value=${String(this.#l)} @input=${e=>{this.#l=Number(e.target.value),this.requestUpdate()}} /></label>
      </div>
      <div class="views">
        <div>${this.#V(e)}
          <div class="bar"><button type="button" class="save" @click=${()=>this.#D()}>Save this order and go on</button>
            ${this.#a>0?t`<button type="button" @click=${()=>this.#T(this.#a-1)}>Back</button>`:i}${this.#B()}</div>
          ${n}
        </div>
        <div>${this.#U(e)}</div>
      </div>`}#B(){return t`<button type="button" @click=${()=>{window.confirm(`Withdraw? Nothing of what you said will be used.`)&&this.#C({id:o(),kind:`withdraw`})}}>Withdraw</button>`}#V(e){return t`<ol class="places" aria-label="Order, from best to worst">
      ${this.#o.map((n,r)=>t`
        <li><div class=${`gap ${this.#v===`gap:${r}`?`over`:``}`} data-drop=${`gap:${r}`}></div>
          <div class=${`place ${this.#v===`place:${r}`?`over`:``}`} data-drop=${`place:${r}`}>
            <span class="number">${r+1}.</span>
            ${n.map(i=>t`<button type="button" class="card" data-letter=${i} aria-pressed=${i===this.#s}
              aria-label=${`${i}, place ${r+1} of ${this.#o.length}${n.length>1?`, tied`:``}; arrow keys move it`}
              @pointerdown=${e=>this.#O(e,i)} @pointermove=${e=>this.#k(e)} @pointerup=${()=>this.#A()} @pointercancel=${()=>this.#A()}
              @click=${()=>this.#M(i)} @keydown=${e=>void this.#j(e,i)}>
              <img src=${this.#H(i,e.kinds[0]??`disparity`)} alt="" draggable="false" /><strong>${i}</strong></button>`)}
          </div></li>`)}
      <li aria-hidden="true"><div class=${`gap ${this.#v===`gap:${this.#o.length}`?`over`:``}`} data-drop=${`gap:${this.#o.length}`}></div></li>
    </ol>`}#H(e,t){return`${this.#b}/study/${this.#y}/${this.#a}/${e}/${t}.png`}#U(e){let n=this.#r.findLast(e=>e.kind===`opinion`&&e.task===this.#a&&e.letter===this.#s),r=n?.kind===`opinion`?n.score:0,a=this.#t.filter(t=>t===`image`||t===`truth`&&!e.kinds.includes(`truth`)||t===`normals`&&e.kinds.includes(`normals`));return t`
      <div class="bar" role="group" aria-label=${`About ${this.#s}`}>
        <strong>${this.#s}</strong>
        <label>my opinion <select @change=${e=>this.#C({id:o(),kind:`opinion`,task:this.#a,letter:this.#s,score:Number(e.target.value)})}>
          <option value="0" disabled ?selected=${r===0}>none</option>
          ${p.map((e,n)=>t`<option value=${n+1} .selected=${r===n+1}>${n+1}, ${e}</option>`)}</select></label>
        <button type="button" class="mark" aria-pressed=${this.#u} @click=${()=>{this.#u=!this.#u,this.#d=[],this.requestUpdate()}}>Mark wrong areas</button>
        ${this.#R.length>0?t`<button type="button" @click=${()=>{let e=this.#R.at(-1);e!==void 0&&this.#C({id:o(),kind:`unwrong`,of:e.id})}}>Take back the last area</button>`:i}
        ${this.#u?t`<span class="status">Draw around it; by keys: arrows, space for a corner, Enter to close.</span>`:i}
      </div>
      <div class="pictures">
        ${e.kinds.map((e,t)=>this.#W(this.#H(this.#s,e),e===`truth`?`true disparity`:`${this.#s}: ${f[e]??e}`,t===0))}
        ${a.map(e=>this.#W(`${this.#b}/study/${this.#y}/scene/${e}.png`,e===`image`?`the picture`:e===`truth`?`true disparity`:`true normals`,!1))}
      </div>`}#W(e,n,r){let[a,o]=this.#f,s=e=>e.map(([e,t])=>`${e+.5},${t+.5}`).join(` `);return t`<figure><div class="pane" tabindex="0" role="group" aria-label=${n} @scroll=${this.#z} @keydown=${r?e=>this.#L(e):i}>
      <div class=${`sheet ${r&&this.#u?`mark`:``}`} >
        <img src=${e} alt=${n} draggable="false" />
        ${this.#c?t`<img class="edges" src=${`${this.#b}/study/${this.#y}/scene/edges.png`} alt="" />`:i}
        ${r?t`<svg viewBox=${`0 0 ${a} ${o}`} aria-hidden="true" @pointerdown=${this.#P} @pointermove=${this.#F} @pointerup=${this.#I} @pointercancel=${this.#I}>
          ${[...this.#R.map(e=>e.points_px),this.#d].map(e=>h(s(e)))}
          ${this.#u&&this.#p!==null?g(this.#p,a/60):i}</svg>`:i}
      </div></div><figcaption>${n}</figcaption></figure>`}};function h(t){return e`<polygon class="area" points=${t}></polygon>`}function g([t,n],r){return e`<path class="area" d=${`M${t-r} ${n}H${t+r}M${t} ${n-r}V${n+r}`}></path>`}customElements.define(`dg-rank`,m);export{m as Ranker};