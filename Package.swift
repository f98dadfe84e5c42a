// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Switchyard",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Switchyard", targets: ["Switchyard"]),
        .library(name: "SwitchyardTesting", targets: ["SwitchyardTesting"]),
        .executable(name: "yard", targets: ["yard"]),
    ],
    targets: [
        .target(name: "SwitchyardServices"),
        .target(name: "CLibcurl"),
        .target(
            name: "SwitchyardClient",
            dependencies: [
                "SwitchyardServices",
                .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(
            name: "SwitchyardAPI",
            dependencies: ["SwitchyardClient", "SwitchyardServices"],
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(name: "Switchyard", dependencies: ["SwitchyardAPI", "SwitchyardClient", "SwitchyardServices"]),
        .target(name: "SwitchyardTesting", dependencies: ["SwitchyardClient", "SwitchyardServices"]),
        .executableTarget(
            name: "yard",
            dependencies: ["Switchyard", "SwitchyardTesting"],
            path: "Sources/YardTool"
        ),
        .systemLibrary(name: "CEpoll"),
        .executableTarget(
            name: "SwitchyardBenchmarks",
            dependencies: [
                "Switchyard", "SwitchyardTesting",
                .target(name: "CEpoll", condition: .when(platforms: [.linux])),
            ]
        ),
        .testTarget(
            name: "SwitchyardServicesTests",
            dependencies: ["SwitchyardServices", "SwitchyardTesting"],
            resources: [.copy("Cases"), .copy("Traces")]
        ),
        .testTarget(
            name: "SwitchyardClientTests",
            dependencies: ["SwitchyardClient", "SwitchyardServices", "SwitchyardTesting"],
            resources: [.copy("Cases")]
        ),
        .testTarget(
            name: "SwitchyardAPITests",
            dependencies: ["SwitchyardAPI", "SwitchyardClient", "SwitchyardServices", "SwitchyardTesting"],
            resources: [.copy("Cases")]
        ),
        .testTarget(name: "SwitchyardTestingTests", dependencies: ["SwitchyardTesting", "SwitchyardClient"]),
        .testTarget(name: "SwitchyardTests", dependencies: ["Switchyard", "SwitchyardTesting"]),
        .testTarget(name: "SwitchyardMainActorTests", dependencies: ["Switchyard", "SwitchyardTesting"]),
        .testTarget(name: "YardToolTests", dependencies: ["yard", "Switchyard", "SwitchyardTesting"]),
        .testTarget(name: "SwitchyardBenchmarksTests", dependencies: ["SwitchyardBenchmarks"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}

// An app as new ones are set up: what does not say otherwise is on the main actor.
for target in package.targets where target.name == "SwitchyardMainActorTests" {
    target.swiftSettings?.append(.defaultIsolation(MainActor.self))
}
