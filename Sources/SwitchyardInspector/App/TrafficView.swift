#if canImport(SwiftUI)
    public import SwiftUI

    /// A view that shows a client's calls inside the app: the result, the servers, and each call with its attempts.
    ///
    ///     #if DEBUG
    ///         .sheet(isPresented: $showsTraffic) { TrafficView(inspector) }
    ///     #endif
    ///
    /// Use it on a phone, whose page at 127.0.0.1 another computer cannot open. The view contains the same data as the
    /// page of ``TrafficInspector``, with the same redaction, and shares it as an HTTP Archive or as a page. It does
    /// not send commands. While it is visible, the inspector observes the client, as while a page is open.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    public struct TrafficView: View {
        @State private var model: TrafficModel
        @State private var text = ""
        private let inspector: TrafficInspector

        /// Creates a view of the calls that an inspector records.
        public init(_ inspector: TrafficInspector) {
            self.inspector = inspector
            _model = State(initialValue: TrafficModel(inspector))
        }

        /// The content of the view.
        public var body: some View {
            NavigationStack {
                List {
                    VerdictSection(verdict: model.feed.verdict)
                    ServerSection(servers: model.feed.client.servers)
                    calls
                }
                .searchable(text: $text)
                .navigationTitle("\(model.feed.client.service), \(model.feed.client.environment)")
                #if !os(tvOS)
                    .toolbar { ToolbarItem { TrafficShareMenu(inspector: inspector) } }
                #endif
            }
            .task { await model.follow() }
        }

        private var calls: some View {
            Section("Calls, newest first") {
                ForEach(model.calls(matching: text), id: \.id) { call in
                    NavigationLink {
                        CallView(call: call, detail: model.detail(of: call))
                    } label: {
                        CallRow(call: call)
                    }
                }
            }
        }
    }

    /// The verdict on all calls.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private struct VerdictSection: View {
        let verdict: Verdict

        var body: some View {
            Section {
                Label(verdict.headline, systemImage: verdict.level.image)
                    .font(.headline)
                    .foregroundStyle(verdict.level == .bad ? Color.red : Color.primary)
                ForEach(verdict.details, id: \.self) { Text($0).font(.subheadline) }
            }
        }
    }

    extension Verdict.Level {
        /// The name of the symbol that shows the level.
        fileprivate var image: String {
            switch self {
            case .bad: "xmark.octagon"
            case .ongoing: "exclamationmark.triangle"
            case .good, .none: "checkmark.circle"
            }
        }
    }

    /// The state of each server, with the evidence of a failure.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private struct ServerSection: View {
        let servers: [InspectedClient.Server]

        var body: some View {
            Section("Servers") {
                ForEach(servers, id: \.name) { server in
                    VStack(alignment: .leading) {
                        HStack {
                            Text(server.name).font(.headline)
                            Spacer()
                            Text(server.state.text).foregroundStyle(server.state.isWorking ? Color.primary : Color.red)
                        }
                        Text(server.words).font(.caption)
                    }
                    .accessibilityElement(children: .combine)
                }
            }
        }
    }

    /// A call as a row of the list.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private struct CallRow: View {
        let call: InspectedCall

        var body: some View {
            VStack(alignment: .leading) {
                Text("\(call.method) \(call.path)").font(.body.monospaced()).lineLimit(2)
                HStack {
                    Text(call.result).foregroundStyle(call.hasFailed ? Color.red : Color.primary)
                    Text(call.route).foregroundStyle(Color.secondary)
                    Spacer()
                    Text(call.took).monospacedDigit()
                }
                .font(.caption)
            }
            .accessibilityElement(children: .combine)
        }
    }

    extension InspectedClient.Server.State {
        /// The name of the state, as on the page.
        fileprivate var text: String {
            switch self {
            case .inUse: "in use"
            case .standby: "on standby"
            case .ejected: "out of service"
            case .probing: "on trial"
            }
        }

        fileprivate var isWorking: Bool { self == .inUse || self == .standby }
    }
#endif
